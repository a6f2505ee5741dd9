// Receives and counts webhooks; GET /count returns the number.

import { createServer } from 'node:http';

let received = 0;

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    if (request.method === 'POST') received++;
    response.end(request.url === '/count' ? String(received) : undefined);
  });
});
server.listen(Number(process.env.PORT), '127.0.0.1');
