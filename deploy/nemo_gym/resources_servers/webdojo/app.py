"""The entrypoint that NeMo-Gym starts."""

from webdojo.interop.nemo_gym.server import WebdojoResourcesServer

if __name__ == "__main__":
    WebdojoResourcesServer.run_webserver()
