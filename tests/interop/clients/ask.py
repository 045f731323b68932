#!/usr/bin/env python3
"""A client made of Debian's protobuf and the standard library alone.

ask.py PORT CA CERTIFICATE KEY GENERATED; any difference is an exception.
"""

import http.client
import ssl
import sys

port, ca, certificate, key, generated = sys.argv[1:]
sys.path.insert(0, generated)

from google.protobuf import json_format  # noqa: E402
from weightd.v1 import service_pb2, verdict_pb2  # noqa: E402

PATH = "/weightd.v1.AttestationService/"


def connection():
    context = ssl.create_default_context(cafile=ca)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_cert_chain(certificate, key)
    return http.client.HTTPSConnection("localhost", int(port), context=context)


def post(stream, method, body, kind):
    stream.request("POST", PATH + method, body, {
        "Content-Type": "application/" + kind, "Connect-Protocol-Version": "1"})
    answer = stream.getresponse()
    return answer.status, answer.read()


def question():
    request = service_pb2.AttestPortRequest(nonce=bytes(range(64)))
    request.question.port = 8081
    request.expectation.parameter_count = 7615616512
    return request


def main():
    stream = connection()
    request = question()
    status, body = post(
        stream, "AttestPort", request.SerializeToString(), "proto")
    assert status == 200, body
    binary = service_pb2.AttestPortResponse.FromString(body)
    assert binary.nonce == request.nonce
    assert binary.verdict.kind == verdict_pb2.VERDICT_KIND_MATCH, binary.verdict

    # The same connection, the same call in JSON: the same message.
    status, body = post(stream, "AttestPort",
                        json_format.MessageToJson(request).encode(), "json")
    assert status == 200, body
    text = json_format.Parse(body, service_pb2.AttestPortResponse())
    assert text == binary
    assert not text.UnknownFields(), "the schema of the test is old"

    status, body = post(stream, "GetHost", b"", "proto")
    host = service_pb2.GetHostResponse.FromString(body).host
    assert (status, host.hostname) == (200, "lab"), host

    # What narrows a question must not be overlooked: field 99 is unknown.
    status, body = post(stream, "AttestPort",
                        request.SerializeToString() + b"\x98\x06\x01", "proto")
    assert status == 501 and b'"unimplemented"' in body, (status, body)


main()
