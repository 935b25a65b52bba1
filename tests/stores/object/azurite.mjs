// Azurite on a free port, in memory, with a container `team`.
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { createServer } from "node:net";

const ACCOUNT = "devstoreaccount1";
// The key that every Azurite has.
const KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

const free = () =>
  new Promise((found) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => found(port));
    });
  });

const port = await free();
const flags = ["--blobHost", "127.0.0.1", "--blobPort", `${port}`, "--inMemoryPersistence", "--skipApiVersionCheck", "--silent"];
const azurite = spawn("target/azurite/node_modules/.bin/azurite-blob", [...flags, "--disableTelemetry"], { stdio: "ignore" });
process.stdin.resume().on("end", () => {
  azurite.kill();
  process.exit();
});

const makeContainer = () => {
  const headers = { "x-ms-date": new Date().toUTCString(), "x-ms-version": "2024-08-04" };
  const signed = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`).join("");
  const text = `PUT${"\n".repeat(12)}${signed}/${ACCOUNT}/${ACCOUNT}/team\nrestype:container`;
  const signature = createHmac("sha256", Buffer.from(KEY, "base64")).update(text).digest("base64");
  headers.authorization = `SharedKey ${ACCOUNT}:${signature}`;
  return fetch(`http://127.0.0.1:${port}/${ACCOUNT}/team?restype=container`, { method: "PUT", headers });
};

for (let tries = 0; ; tries += 1) {
  const made = await makeContainer().catch(() => null);
  if (made?.status === 201) break;
  if (tries === 300) throw new Error(`Azurite did not make a container: ${made && (await made.text())}`);
  await new Promise((later) => setTimeout(later, 100));
}
console.log(port);
