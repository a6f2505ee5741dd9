// Timestamps in requests: RFC 3339, days that exist.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseInstant } from '../../src/domain/instant.ts';

describe('a timestamp', () => {
  it('is read as the instant that it names', () => {
    const date = fc.date({
      min: new Date('0100-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(date, (each) => {
        const text = each.toISOString();
        assert.equal(parseInstant(text), each.getTime(), text);
        assert.equal(parseInstant(text.toLowerCase()), each.getTime(), text);
      }),
    );
  });

  it('may have an offset, and a fraction of up to nine digits', () => {
    const noon = Date.UTC(2026, 0, 2, 12);
    for (const text of [
      '2026-01-02T12:00:00Z',
      '2026-01-02t12:00:00z',
      '2026-01-02T12:00:00.000000000Z',
      '2026-01-02T14:30:00+02:30',
      '2026-01-01T12:01:00-23:59',
      '2026-01-02T12:00:00-00:00',
    ])
      assert.equal(parseInstant(text), noon, text);
    assert.equal(parseInstant('2026-01-02T12:00:00.5Z'), noon + 500);
  });

  it('names the day 29 February only in leap years', () => {
    assert.equal(parseInstant('2024-02-29T00:00:00Z'), Date.UTC(2024, 1, 29));
    for (const year of ['2023', '2100']) assert.equal(parseInstant(`${year}-02-29T00:00:00Z`), null);
  });

  it('is no other text', () => {
    for (const text of [
      ...['', '2026', '2026-01-02', '2026-01-02T12:00Z', '2026-01-02 12:00:00Z', '2026-01-02T12:00:00'],
      ...[
        'x2026-01-02T12:00:00Z',
        '2026-01-02T12:00:00Zx',
        '12026-01-02T12:00:00Z',
        '2026-01-02T12:00:00+2:30',
      ],
      ...['2026-00-02T12:00:00Z', '2026-13-02T12:00:00Z', '2026-01-00T12:00:00Z', '2026-04-31T12:00:00Z'],
      ...['2026-01-02T24:00:00Z', '2026-01-02T12:60:00Z', '2026-01-02T12:00:60Z', '2026-02-30T12:00:00Z'],
      ...['2026-01-02T12:00:00.Z', '2026-01-02T12:00:00.0000000000Z', '2026-01-02T12:00:00+24:00'],
      ...[
        '2026-01-02T12:00:00+02:60',
        '2026-01-02Ta2:00:00Z',
        '2026-01-02T12:a0:00Z',
        '2026-01-02T12:00:0aZ',
      ],
      ...[
        '2026-01-02T12:00:00+a2:00',
        '2026-01-02T12:00:00+02:a0',
        '2026-01-02T12:00:00+02:0a',
        '2026-0a-02T12:00:00Z',
      ],
      ...['2026-01-0aT12:00:00Z', '202a-01-02T12:00:00Z', '2026-01-02T1a:00:00Z', '2026-01-02T2a:00:00Z'],
    ])
      assert.equal(parseInstant(text), null, text);
  });
});
