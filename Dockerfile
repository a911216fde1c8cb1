# Sfumato in a container: nothing is compiled when it runs, and nothing is written but
# what it is asked to write. Run it as nobody, on a read-only file system:
#
#   docker build -t sfumato .
#   docker run --rm --read-only --network none --user "$(id -u):$(id -g)" \
#       -v "$PWD:/data" sfumato demo

FROM python:3.13-slim AS build
WORKDIR /sources
COPY . .
RUN python -m venv .venv
RUN .venv/bin/python -m pip install -q -c constraints.txt -e '.[jit,wheels]'
RUN .venv/bin/python -m tools.wheel --out wheels

FROM python:3.13-slim
COPY --from=build /sources/wheels wheels
RUN python -m pip install -q --no-cache-dir wheels/*.whl
RUN rm -r wheels
ENV PYTHONDONTWRITEBYTECODE=1
USER 65534:65534
WORKDIR /data
ENTRYPOINT ["sfumato"]
