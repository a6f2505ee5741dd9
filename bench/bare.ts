// Baseline: a plain server that reads and parses the same body as the service, if any, writes the same
// response, and does nothing else. The ratios of the benchmark are relative to it.

import { createServer } from 'node:http';

export interface BareResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

const { status, headers, body } = JSON.parse(process.env.BENCH_RESPONSE!) as BareResponse;

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (chunks.length > 0) JSON.parse(Buffer.concat(chunks).toString());
    response.writeHead(status, headers);
    response.end(body);
  });
});
server.listen(Number(process.env.PORT), '127.0.0.1');
