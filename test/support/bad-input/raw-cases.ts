// Raw requests that HTTP clients do not send, by category.

import { METHODS } from 'node:http';
import { type ExpectedError, invalidRequest } from './refusal.ts';
import { phrases, words } from './value.ts';

type Bytes = string | Buffer;
type Requests<Sent extends Bytes = Bytes> = Readonly<Record<string, Sent>>;

interface RawTable {
  requests: (raw: RawRequests) => Requests;
  /** Expected status or error. */
  expected: number | ExpectedError;
  /** Whether the connection accepts another request afterwards. */
  keepsAlive: boolean;
}

/** Builds requests with an API token. */
export class RawRequests {
  /** Fields that every request has. */
  readonly #fields: string;
  readonly body: string;
  readonly #changingBody: string;

  constructor(token: string, id: string) {
    this.#fields = `Host: x\r\nAuthorization: Token ${token}\r\n`;
    this.body = JSON.stringify({ user_group_id: id });
    this.#changingBody = JSON.stringify({ user_group_id: id, name: 'Smuggled' });
  }

  /** Returns a lookup of an existing group, with these header lines and body. */
  lookUp(headers = this.lengthOf(this.body), body = this.body): string {
    return this.of('GET /api/user HTTP/1.1', headers, body);
  }

  of(requestLine: string, headers = this.lengthOf(this.body), body = this.body): string {
    return `${requestLine}\r\n${this.#fields}${headers}\r\n${body}`;
  }

  /** Returns a lookup with these lines instead of the Host header. */
  withHost(lines: string): string {
    return this.lookUp().replace('Host: x\r\n', lines);
  }

  /** Request that changes a group if the server executes it. */
  get smuggled(): string {
    return this.of('PUT /api/user HTTP/1.1', this.lengthOf(this.#changingBody), this.#changingBody);
  }

  lengthOf(body: string): string {
    return `Content-Length: ${body.length}\r\n`;
  }

  chunked(body = this.body): string {
    return `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  }
}

/** Last request of a connection: succeeds if the server is still in sync, and closes the connection. */
export const lastRequest = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

const rejected = { expected: invalidRequest, keepsAlive: false };

export const rawTables: Readonly<Record<string, RawTable>> = {
  'has an ambiguous length': { requests: twoLengths, ...rejected },
  'has malformed chunks': { requests: badChunks, ...rejected },
  'has malformed header lines': { requests: badHeaderLines, ...rejected },
  'has a malformed request line': { requests: badRequestLines, ...rejected },
  'uses another protocol': { requests: otherProtocols, ...rejected },
  'uses an HTTP version other than 1.0 or 1.1': { requests: otherVersions, ...rejected },
  'has an unsupported transfer coding': { requests: otherTransferCodings, ...rejected },
  'has headers of more than 16 KiB': {
    requests: tooManyHeaders,
    expected: { status: 431, code: 'headers_too_large' },
    keepsAlive: false,
  },
  'has an unknown method': {
    requests: unknownMethods,
    expected: { status: 501, code: 'not_implemented' },
    keepsAlive: false,
  },
  'is a CONNECT': {
    requests: tunnels,
    expected: { status: 405, code: 'method_not_allowed' },
    keepsAlive: false,
  },
  'has no Host, a repeated one or an invalid one': {
    requests: badHosts,
    expected: invalidRequest,
    keepsAlive: true,
  },
  'has a method that the path does not support': {
    requests: otherMethods,
    expected: { status: 405, code: 'method_not_allowed' },
    keepsAlive: true,
  },
  'has an unknown path': {
    requests: otherPaths,
    expected: { status: 404, code: 'not_found' },
    keepsAlive: true,
  },
  'has a path that cannot be decoded': { requests: brokenPaths, expected: invalidRequest, keepsAlive: true },
  'is unusual but valid': { requests: unusualButValid, expected: 200, keepsAlive: true },
  'hides another one in a part that is not parsed': {
    requests: hiddenRequests,
    expected: 200,
    keepsAlive: true,
  },
  'is valid and closes the connection': { requests: validAndLast, expected: 200, keepsAlive: false },
};

function twoLengths(raw: RawRequests): Requests {
  const { body } = raw;
  const length = raw.lengthOf(body);
  const chunked = 'Transfer-Encoding: chunked\r\n';
  const put = (headers: string, after = body) =>
    raw.of('PUT /api/user HTTP/1.1', headers, after) + raw.smuggled;
  const lengths = phrases('+27|-27|0x1b|2 7|27,27|27, 27|27;|27.0|1e1|\xd9\xa2\xd9\xa7|"27"|| |x');
  const codings = phrases(
    'xchunked|chunkedx|identity|chunked, identity|chunked, chunked|chunked, gzip|"chunked"|chunked;q=1|',
  );
  return {
    'length and chunks': put(length + chunked, '0\r\n\r\n'),
    'chunks and length': put(chunked + length, raw.chunked()),
    'length 0 and chunks': put(`Content-Length: 0\r\n${chunked}`, raw.chunked()),
    'the same length twice': put(length + length),
    'two lengths': put(`${length}Content-Length: 0\r\n`),
    'two lengths, the correct one last': put(`Content-Length: 0\r\n${length}`),
    'a length beyond 64 bits': put('Content-Length: 18446744073709551643\r\n'),
    'a space before the colon': put(`Content-Length : ${body.length}\r\n`),
    'chunks twice': put(chunked + chunked, raw.chunked()),
    'chunks, then no coding': put(`${chunked}Transfer-Encoding: identity\r\n`, raw.chunked()),
    ...Object.fromEntries(lengths.map((text) => [`the length ${text}`, put(`Content-Length: ${text}\r\n`)])),
    ...Object.fromEntries(
      codings.map((coding) => [
        `the coding ${coding}`,
        put(`Transfer-Encoding: ${coding}\r\n`, raw.chunked()),
      ]),
    ),
    'a coding after a vertical tab': put('Transfer-Encoding: \x0bchunked\r\n', raw.chunked()),
    'a coding on a folded line': put('Transfer-Encoding:\r\n chunked\r\n', raw.chunked()),
    'a space before the colon of the coding': put('Transfer-Encoding : chunked\r\n', raw.chunked()),
  };
}

function badChunks(raw: RawRequests): Requests {
  const { body } = raw;
  const size = body.length.toString(16);
  const put = (chunks: string) =>
    raw.of('PUT /api/user HTTP/1.1', 'Transfer-Encoding: chunked\r\n', chunks) + raw.smuggled;
  const sizes = phrases(`zz|0x${size}|-${size}|+${size}|| |ffffffffffffffff1|${size} ${size}|${size}\t;`);
  return {
    ...Object.fromEntries(
      sizes.map((text) => [`the size "${text}"`, put(`${text}\r\n${body}\r\n0\r\n\r\n`)]),
    ),
    'a size that is too small': put(`1\r\n${body}\r\n0\r\n\r\n`),
    'lines that end in a line feed': put(`${size}\n${body}\n0\n\n`),
    'no line break after a chunk': put(`${size}\r\n${body}0\r\n\r\n`),
    'an extension that ends in a line feed': put(`${size};a\n${body}\r\n0\r\n\r\n`),
    'an extension of 20 KiB': put(`${size};${'a'.repeat(20_480)}\r\n${body}\r\n0\r\n\r\n`),
    'an extension with a control character': put(`${size};a=\x01\r\n${body}\r\n0\r\n\r\n`),
    'an empty extension that ends in a line feed': put(`${size};\n${body}\r\n0\r\n\r\n`),
    'a size that ends in a carriage return': put(`${size}\r${body}\r\n0\r\n\r\n`),
    'a chunk that ends in a line feed': put(`${size}\r\n${body}\n0\r\n\r\n`),
    'a chunk that ends in a carriage return': put(`${size}\r\n${body}\r0\r\n\r\n`),
    'a chunk that ends in two other bytes': put(`${size}\r\n${body}XX0\r\n\r\n`),
    'a last chunk with a sign': put(`${size}\r\n${body}\r\n-0\r\n\r\n`),
    'a last chunk as 0x0': put(`${size}\r\n${body}\r\n0x0\r\n\r\n`),
    'a size with an underscore': put(`0_${size}\r\n${body}\r\n0\r\n\r\n`),
    'a trailer that names a length': put(`${size}\r\n${body}\r\n0\r\nContent-Length: 99\r\n\r\n`),
    'a trailer that is not a header': put(`${size}\r\n${body}\r\n0\r\nx y\r\n\r\n`),
  };
}

function badHeaderLines(raw: RawRequests): Requests {
  const lines = {
    'a folded line': 'X: a\r\n b',
    'a line folded with a tab': 'X: a\r\n\tb',
    'a bare line feed': 'X: a\nY: b',
    'a bare carriage return': 'X: a\rY: b',
    'a null byte in a value': 'X: a\x00b',
    'a control character in a value': 'X: a\x07b',
    'a delete character in a value': 'X: a\x7fb',
    'a null byte in a name': 'X\x00: a',
    'no colon': 'X',
    'no name': ': a',
    'a space in a name': 'X Y: a',
    'a space after a name': 'X : a',
    'a tab after a name': 'X\t: a',
    'a name in parentheses': '(X): a',
    'a name that is not ASCII': 'X\xe9: a',
    'a line of spaces': '   ',
  };
  const requests = Object.entries(lines).map(([what, line]) => [
    what,
    raw.lookUp(`${line}\r\n${raw.lengthOf(raw.body)}`) + raw.smuggled,
  ]);
  return {
    ...Object.fromEntries(requests),
    'a folded first line': raw.lookUp().replace('\r\n', '\r\n X: a\r\n'),
    'line feeds only': raw.lookUp().replaceAll('\r\n', '\n'),
    'carriage returns only': raw.lookUp().replaceAll('\r\n', '\r'),
  };
}

function badRequestLines(raw: RawRequests): Requests {
  const lines = [
    ...['"GET"', 'G\x00ET', 'G(T', 'GET,', 'F\xe9O', ''].map((method) => `${method} /api/user HTTP/1.1`),
    ...phrases('FOO|FOO /api/user|FOO /api/us er HTTP/1.1|FOO /api/user HTTP/2.0|FOO /api/user http/1.1'),
    ...phrases(
      '/api/user HTTP/1.1|GET HTTP/1.1|GET api/user HTTP/1.1|GET \\api\\user HTTP/1.1|GET x:80 HTTP/1.1',
    ),
    ...phrases(
      'GET /api/us er HTTP/1.1|GET /api/user HTTP/1.1 |GET\t/api/user\tHTTP/1.1|GET /api/user\tHTTP/1.1',
    ),
    ...['\x00', '\x01', '\x7f', '\xe9'].map((byte) => `GET /api/user${byte} HTTP/1.1`),
    ...words('http/1.1 HTTP HTTP/ HTTP/1 HTTP/01.1 HTTP/1.10 HTTP/1,1 HTTP/x.y HTTPS/1.1 FTP/1.1').map(
      (version) => `GET /api/user ${version}`,
    ),
    ...['GET /api/user', 'OPTIONS x HTTP/1.1', 'HTTP/1.1 200 OK'],
  ];
  return Object.fromEntries(lines.map((line) => [JSON.stringify(line), raw.of(line) + raw.smuggled]));
}

function unknownMethods(raw: RawRequests): Requests {
  const methods = words("get Get FOO GETT GE POSTPUT ICE M-SEARCH2 !#$%&'*+-.^_`|~ DESCRIBE PLAY FLUSH");
  return Object.fromEntries(
    methods.map((method) => [method, raw.of(`${method} /api/user HTTP/1.1`) + raw.smuggled]),
  );
}

function otherProtocols(raw: RawRequests): Requests {
  const http2 = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
  return {
    'the HTTP/2 preface': `${http2}\0\0\0\x04\0\0\0\0\0`,
    'the HTTP/2 preface before a request': http2 + raw.smuggled,
    'a TLS hello': Buffer.from(`16030100c8010000c40303${'00'.repeat(190)}`, 'hex'),
    'an SSH banner': 'SSH-2.0-OpenSSH_9.9\r\n',
    'an SMTP greeting': 'EHLO x\r\n',
    'a Redis command': '*1\r\n$4\r\nPING\r\n',
    'a start-up message of PostgreSQL': Buffer.from('0000000804d2162f', 'hex'),
    'a PROXY line': `PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n${raw.smuggled}`,
    'a SOCKS greeting': Buffer.from('050100', 'hex'),
    'a response': 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
    'a null byte': '\0',
    'random bytes': Buffer.from(Array.from({ length: 300 }, (_, index) => (index * 7_919 + 13) % 256)),
    'an unterminated line': 'x'.repeat(100_000),
  };
}

function otherVersions(raw: RawRequests): Requests {
  return Object.fromEntries(
    ['0.9', '2.0', '1.2', '1.9', '3.0', '0.0', '9.9'].map((version) => [
      version,
      raw.of(`GET /api/user HTTP/${version}`),
    ]),
  );
}

function otherTransferCodings(raw: RawRequests): Requests {
  const coded = (coding: string) => raw.lookUp(`Transfer-Encoding: ${coding}\r\n`, raw.chunked());
  const old = raw.of('GET /api/user HTTP/1.0', 'Transfer-Encoding: chunked\r\n', raw.chunked());
  return {
    'gzip in chunks': coded('gzip, chunked'),
    'deflate in chunks, on two lines': coded('deflate\r\nTransfer-Encoding: chunked'),
    'an unknown coding, in chunks': coded('x, chunked'),
    'gzip in chunks, to a path that cannot be decoded': coded('gzip, chunked').replace(
      '/api/user',
      '/api/%ff',
    ),
    // RFC 9112 §6.1: HTTP/1.0 has no chunked encoding, so the framing is invalid.
    'chunks in HTTP/1.0': old,
    'chunks in HTTP/1.0 on a persistent connection': old.replace('Host', 'Connection: keep-alive\r\nHost'),
  };
}

function tooManyHeaders(raw: RawRequests): Requests {
  return {
    'a value of 17 KiB': raw.lookUp(`X: ${'a'.repeat(17_408)}\r\n`),
    'a value of 1 MiB': raw.lookUp(`X: ${'a'.repeat(2 ** 20)}\r\n`),
    'a name of 17 KiB': raw.lookUp(`${'a'.repeat(17_408)}: a\r\n`),
    'an API token of 17 KiB': raw.lookUp(`Authorization: Token ${'a'.repeat(17_408)}\r\n`),
    'a URL of 17 KiB': raw.of(`GET /api/user?${'a'.repeat(17_408)} HTTP/1.1`),
    '5 000 lines': raw.lookUp('X:\r\n'.repeat(5_000)),
    'a trailer of 17 KiB': raw.lookUp(
      'Transfer-Encoding: chunked\r\n',
      `1b\r\n${raw.body}\r\n0\r\nX: ${'a'.repeat(17_408)}\r\n\r\n`,
    ),
  };
}

function tunnels(raw: RawRequests): Requests {
  return {
    'to a host': 'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n',
    'to a path': raw.of('CONNECT /api/user HTTP/1.1'),
    'with a request inside': `CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n${raw.smuggled}`,
    'with a length': raw.of('CONNECT x:443 HTTP/1.1'),
  };
}

/** RFC 9112 §3.2 requires 400 for all of these. */
function badHosts(raw: RawRequests): Requests {
  return {
    'no host': raw.withHost(''),
    'two hosts': raw.withHost('Host: x\r\nHost: y\r\n'),
    'the same host twice': raw.withHost('Host: x\r\nHost: x\r\n'),
    'a host with a space': raw.withHost('Host: x y\r\n'),
    'a host with a path': raw.withHost('Host: x/api\r\n'),
    'a host with a user': raw.withHost('Host: u@x\r\n'),
    'two hosts in one line': raw.withHost('Host: x, y\r\n'),
    'a host with a port that is not a number': raw.withHost('Host: x:y\r\n'),
  };
}

function otherMethods(raw: RawRequests): Requests {
  // HEAD has no response body, and CONNECT opens a tunnel.
  const methods = METHODS.filter((method) => !['GET', 'PUT', 'POST', 'HEAD', 'CONNECT'].includes(method));
  const override = 'X-HTTP-Method-Override: GET\r\n';
  return Object.fromEntries(
    methods.flatMap((method) => [
      [method, raw.of(`${method} /api/user HTTP/1.1`)],
      [`${method} without a body`, raw.of(`${method} /api/user/ HTTP/1.1`, '', '')],
      [
        `${method} with a method override`,
        raw.of(`${method} /api/user HTTP/1.1`, override + raw.lengthOf(raw.body)),
      ],
    ]),
  );
}

function otherPaths(raw: RawRequests): Requests {
  const paths = [
    ...words(
      '/ /api /api/ /api/users /api/user/x //api/user /api//user /api/user// /API/USER /api/User /api/user.json',
    ),
    ...words(
      '/api/user/. /api/./user /api/x/../user /../api/user /api/user%2f /api%2fuser /api/user%00 /api/user%20',
    ),
    // A proxy that blocks a path by its first part, such as /console, may not decode it.
    ...words('/%61pi/user http://x/%61pi/user /%63onsole /%63onsole/sign-in http://x/%63onsole'),
    ...words('/api/user;x /api/user;/x /.env /.git/config /admin /metrics/x /v1 /v2/user-groups *'),
    ...[`/${'a'.repeat(8_000)}`, `/api/user${'/'.repeat(4_000)}`],
  ];
  return Object.fromEntries(paths.map((path) => [path.slice(0, 40), raw.of(`GET ${path} HTTP/1.1`)]));
}

function brokenPaths(raw: RawRequests): Requests {
  const paths = words(
    '/api/%zz /api/% /api/%e /api/%ff /api/%c0%af /api/%ed%a0%80 /api/user% /%u0061pi/user',
  );
  return Object.fromEntries(paths.map((path) => [path, raw.of(`GET ${path} HTTP/1.1`)]));
}

function unusualButValid(raw: RawRequests): Requests {
  const length = raw.lengthOf(raw.body);
  const inChunks = (body: string, coding = 'chunked') => raw.lookUp(`Transfer-Encoding: ${coding}\r\n`, body);
  return {
    chunks: inChunks(raw.chunked()),
    'chunks in capitals': inChunks(raw.chunked(), 'CHUNKED'),
    'chunks of one byte': inChunks(`${Array.from(raw.body, (byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`),
    'a chunk size with leading zeros': inChunks(`0000${raw.chunked()}`),
    'a chunk with an extension': inChunks(raw.chunked().replace('\r\n', ';a="b"\r\n')),
    'a trailer': inChunks(raw.chunked().replace(/0\r\n\r\n$/, '0\r\nX: y\r\n\r\n')),
    'a trailer with another API token': inChunks(
      raw.chunked().replace(/0\r\n\r\n$/, '0\r\nAuthorization: x\r\n\r\n'),
    ),
    'a length with leading zeros': raw.lookUp(`Content-Length: 000${raw.body.length}\r\n`),
    'a length surrounded by spaces': raw.lookUp(`Content-Length:  \t${raw.body.length} \t\r\n`),
    'names in capitals': raw.lookUp(length.toUpperCase()),
    '200 headers': raw.lookUp('X: y\r\n'.repeat(200) + length),
    '15 KiB of headers': raw.lookUp(`X: ${'a'.repeat(15_360)}\r\n${length}`),
    'a header named __proto__': raw.lookUp(`__proto__: x\r\nconstructor: y\r\n${length}`),
    'the absolute form': raw.of('GET http://x/api/user HTTP/1.1'),
    'the absolute form of another host': raw.of('GET https://other.example:1/api/user HTTP/1.1'),
    'an encoded letter in the path': raw.of('GET /api/%75ser HTTP/1.1'),
    'a trailing slash': raw.of('GET /api/user/ HTTP/1.1'),
    'an empty query': raw.of('GET /api/user? HTTP/1.1'),
    'leading empty lines': `\r\n\r\n${raw.lookUp()}`,
    'HTTP/1.0 on a persistent connection': raw.of(
      'GET /api/user HTTP/1.0',
      `Connection: keep-alive\r\n${length}`,
    ),
    'HTTP/1.0 without a host': raw.withHost('Connection: keep-alive\r\n').replace('HTTP/1.1', 'HTTP/1.0'),
    'a host in brackets': raw.withHost('Host: [::1]:8080\r\n'),
    'an unknown expectation': raw.lookUp(`Expect: x\r\n${length}`),
  };
}

/**
 * Returns bodies that an operation does not read, and header names that a proxy may confuse with others or
 * remove.
 */
function hiddenRequests(raw: RawRequests): Requests {
  const { smuggled } = raw;
  const length = raw.lengthOf(raw.body);
  const chunked = 'Transfer-Encoding: chunked\r\n';
  const health = (headers: string, body: string) => raw.of('GET /healthz HTTP/1.1', headers, body);
  const hidden = raw.lengthOf(smuggled);
  const names = phrases(
    'Content_Length|X-Content-Length|Content-Length-|Transfer_Encoding|Transfer-Encoding-|X-HTTP-Method-Override',
  );
  const removed = phrases(
    'Content-Length|Transfer-Encoding|Host|Authorization|close-not|keep-alive, Content-Length',
  );
  return {
    'a body that is a request': health(hidden, smuggled),
    'a body of two requests': health(raw.lengthOf(smuggled + smuggled), smuggled + smuggled),
    'a chunk that is a request': health(chunked, raw.chunked(smuggled)),
    'a chunk extension that is a header line': raw.lookUp(
      chunked,
      raw.chunked().replace('\r\n', ';x="Content-Length: 99"\r\n'),
    ),
    'an expectation before a body that is a request': health(
      `Expect: 100-continue-not\r\n${hidden}`,
      smuggled,
    ),
    'a value that is an encoded request': raw.lookUp(`X: a%0d%0a%0d%0aPUT /api/user\r\n${length}`),
    ...Object.fromEntries(
      names.map((name) => [`a header named ${name}`, raw.lookUp(`${name}: 99\r\n${length}`)]),
    ),
    ...Object.fromEntries(
      removed.map((name) => [
        `a connection that names ${name}`,
        raw.lookUp(`Connection: ${name}\r\n${length}`),
      ]),
    ),
  };
}

/**
 * Returns requests that allow the server to switch protocols. Some clients send the first with every request.
 */
export function upgrades(raw: RawRequests): Requests<string> {
  const length = raw.lengthOf(raw.body);
  const settings = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';
  const webSocket = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: eA==\r\n';
  return {
    'to HTTP/2': raw.lookUp(settings + length),
    'to HTTP/2, with chunks': raw.lookUp(`${settings}Transfer-Encoding: chunked\r\n`, raw.chunked()),
    'to a web socket': raw.lookUp(webSocket + length),
    'to TLS': raw.lookUp(`Connection: Upgrade\r\nUpgrade: TLS/1.2\r\n${length}`),
  };
}

function validAndLast(raw: RawRequests): Requests {
  const length = raw.lengthOf(raw.body);
  return {
    'HTTP/1.0': raw.of('GET /api/user HTTP/1.0'),
    'Connection: close': raw.lookUp(`Connection: close\r\n${length}`),
    'Connection: close, with an extra line break': `${raw.lookUp(`Connection: close\r\n${length}`)}\r\n`,
  };
}
