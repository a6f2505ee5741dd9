// Documents: their tags and sizes, and the limit that one more would exceed.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Document,
  documentBytes,
  documentFields,
  documentTag,
  exceededLimit,
} from '../../src/domain/document.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';

const documentOf = (id: string, body: string) => ({ id, body: body as JsonText }) as Document;

describe('a document', () => {
  it('is as large as its id and body in UTF-8', () => {
    assert.equal(documentBytes(documentOf('é', '{"a":"中"}')), 2 + 11);
  });

  it('has a new tag after each change, and after it was deleted and created again', () => {
    const tags = [
      { createdAt: 1, version: 1 },
      { createdAt: 1, version: 2 },
      { createdAt: 11, version: 1 },
    ].map(documentTag);
    assert.deepEqual(tags, ['1-1', '1-2', '11-1']);
  });

  it('writes its members into its event, with their exact text', () => {
    const fields = documentFields(documentOf('a', '{"url":"x","n":1.10,"o":{"b":[1]}}'));
    assert.deepEqual(fields, { url: '"x"', n: '1.10', o: '{"b":[1]}' });
  });
});

describe('the limit of documents', () => {
  const limit = { documents: 2, bytes: 20 };
  const small = documentOf('a', '{"a":1}');
  const large = documentOf('a', '{"a":123}');

  it('applies to their number for a new one', () => {
    assert.equal(exceededLimit(small, null, { documents: 1, bytes: 0 }, limit), null);
    assert.equal(exceededLimit(small, null, { documents: 2, bytes: 0 }, limit), 'documents');
    assert.equal(exceededLimit(small, large, { documents: 2, bytes: 0 }, limit), null);
  });

  it('applies to the sum of their bytes', () => {
    assert.equal(exceededLimit(small, null, { documents: 1, bytes: 12 }, limit), null);
    assert.equal(exceededLimit(small, null, { documents: 1, bytes: 13 }, limit), 'bytes');
    assert.equal(exceededLimit(large, small, { documents: 2, bytes: 18 }, limit), null);
    assert.equal(exceededLimit(large, small, { documents: 2, bytes: 19 }, limit), 'bytes');
  });

  it('does not refuse a document that does not grow, even beyond it', () => {
    assert.equal(exceededLimit(small, large, { documents: 3, bytes: 100 }, limit), null);
    assert.equal(exceededLimit(small, small, { documents: 3, bytes: 100 }, limit), null);
  });
});
