// What a response that is not read yet keeps in memory.

import assert from 'node:assert/strict';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { UnreadResponses } from '../../src/http/limits/response-backpressure.ts';

const TENANT = 1;

function sent(text: string): unknown {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  return new UnreadResponses().count(TENANT, 'read', response, text);
}

describe('A response', () => {
  it('is sent as bytes if it is large, so that the text is not kept as well', () => {
    const text = 'é'.repeat(65_536);
    assert.deepEqual(sent(text), Buffer.from(text));
  });

  it('is sent as text if it is small', () => {
    for (const text of ['é', 'é'.repeat(65_535)]) assert.equal(sent(text), text);
  });
});
