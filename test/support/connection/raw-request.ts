// Parses requests as a server receives them, strictly: the proxies and clients under test send only canonical
// HTTP.

const HEAD = /^[^\r\n]+ HTTP\/1\.1\r\n(?:[^\r\n]+\r\n)*\r\n/;
const CHUNKS = /^(?:[0-9a-fA-F]+[^\r\n]*\r\n)/;

/** Counts the complete requests; `rest` is the remaining text. */
export function countRequests(received: string): { requests: number; rest: string } {
  let requests = 0;
  let rest = received;
  for (let length = lengthOfRequest(rest); length !== null; length = lengthOfRequest(rest)) {
    requests++;
    rest = rest.slice(length);
  }
  return { requests, rest };
}

/** Returns the length of the first request; null if it is incomplete. */
function lengthOfRequest(text: string): number | null {
  const [head] = HEAD.exec(text) ?? [];
  if (head === undefined) return null;
  const [, length] = /\r\ncontent-length: *(\d+)\r\n/i.exec(head) ?? [];
  const isChunked = /\r\ntransfer-encoding: *chunked\r\n/i.test(head);
  if (isChunked) {
    const chunks = lengthOfChunks(text.slice(head.length));
    return chunks && head.length + chunks;
  }
  const total = head.length + Number(length ?? 0);
  return text.length < total ? null : total;
}

function lengthOfChunks(text: string): number | null {
  for (let at = 0; ; ) {
    const [line] = CHUNKS.exec(text.slice(at)) ?? [];
    if (line === undefined) return null;
    const size = Number.parseInt(line, 16);
    at += line.length;
    if (size === 0) {
      const [trailer] = /^(?:[^\r\n]+\r\n)*\r\n/.exec(text.slice(at)) ?? [];
      return trailer === undefined ? null : at + trailer.length;
    }
    at += size + 2;
    if (at > text.length) return null;
  }
}
