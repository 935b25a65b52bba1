"""moto's S3 on a free port, one request at a time: its conditions are looked at and acted on in two steps."""

import io
import sys
import threading
import urllib.request

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

app = DomainDispatcherApplication(create_backend_app)
turn = threading.Lock()


def one_at_a_time(environ, start_response):
    # The body first: whoever is slow to send it keeps nobody waiting.
    length = int(environ.get("CONTENT_LENGTH") or 0)
    environ["wsgi.input"] = io.BytesIO(environ["wsgi.input"].read(length))
    with turn:
        return list(app(environ, start_response))


class Quiet(WSGIRequestHandler):
    def log(self, *_):
        pass


server = make_server("127.0.0.1", 0, one_at_a_time, threaded=True, request_handler=Quiet)
threading.Thread(target=server.serve_forever, daemon=True).start()
bucket = urllib.request.Request(f"http://127.0.0.1:{server.port}/team", method="PUT")
urllib.request.build_opener(urllib.request.ProxyHandler({})).open(bucket).close()
print(server.port, flush=True)
sys.stdin.read()
