# pushplan in a small image: a static binary, git for ledgers and commits, and certificates. It runs as nobody in particular.
FROM rust:1.95.0-alpine3.22@sha256:064dfc925d68d1a63f4fd2871bd7dc6e6ea56692989a487185855d62885d90aa AS build
# The C library and its headers: SQLite and the cryptography are compiled from C.
RUN apk add --no-cache musl-dev=~1.2
WORKDIR /build
COPY Cargo.toml Cargo.lock README.md build.rs ./
COPY src src
# Cargo.toml names the benches and the support of the tests. Neither is built.
COPY benches benches
COPY crates crates
# The binary has the book in it.
COPY docs docs
RUN cargo build --release --locked --bin pushplan

FROM alpine:3.22@sha256:14358309a308569c32bdc37e2e0e9694be33a9d99e68afb0f5ff33cc1f695dce
RUN apk add --no-cache git=~2.49 openssh-client-default=~10.0 && adduser -D -u 10001 pushplan
COPY --from=build /build/target/release/pushplan /usr/local/bin/pushplan
USER 10001:10001
WORKDIR /project
ENTRYPOINT ["pushplan"]
CMD ["--help"]
