// Reads a customer table in CSV as the lines of an import. Each field has a column; members have columns such
// as `mapping.40` and `properties.plan`, whose values are texts. An empty cell is an absent field or
// member; without any member, the object is null.

import { pipeline } from 'node:stream/promises';
import { CsvError, type Options, parse } from 'csv-parse';
import { jsonText, NULL, objectText } from '../../domain/json/json-tree.ts';
import { parseLenient } from '../../domain/json/lenient-json.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import { importedUserGroupBody } from '../../domain/user-group/user-group-body.ts';
import { DataError } from '../exit-code.ts';
import { type BatchLimits, type Line, lineBatches } from '../ndjson.ts';

const FIELDS = Object.entries(importedUserGroupBody.schema!.properties as Record<string, { type: unknown }>);
const namesOf = (isText: boolean): string[] =>
  FIELDS.filter(([, { type }]) => [type].flat().includes('string') === isText).map(([name]) => name);
const TEXTS = namesOf(true);
/** Fields whose cells are JSON. */
const JSON_FIELDS = namesOf(false);
const MEMBER = /^(mapping|properties)\.(.+)$/s;

/** Yields batches as `ndjsonBatches` does. Throws `DataError` for a file that is not CSV, or has a column that is not a field. */
export function csvBatches(input: AsyncIterable<Buffer>, limits: BatchLimits): AsyncGenerator<Line[]> {
  return lineBatches(records(input, limits), limits);
}

async function* records(input: AsyncIterable<Buffer>, { lineBytes }: BatchLimits): AsyncGenerator<Line> {
  // The parser counts a CRLF in a cell as two lines.
  let countedTwice = 0;
  const options: Options<Row, string[]> = {
    bom: true,
    max_record_size: lineBytes,
    on_record(record, { lines, bytes }) {
      countedTwice += windowsLineBreaks(record);
      return { record, number: lines - countedTwice, end: bytes };
    },
    // Otherwise the first line decides, and the last cell of a line that ends differently keeps its carriage return.
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
  };
  const parser = parse(options as object);
  // If the input fails, the parser ends with the same error.
  pipeline(validText(input), parser).catch(() => {});
  let columns: readonly string[] | null = null;
  try {
    for await (const { record, number, end } of parser as AsyncIterable<Row>)
      if (columns === null) columns = checkedColumns(record);
      else yield { number, bytes: Buffer.from(recordJson(columns, record)), end };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // Leaves out the cell that may follow: it may be a token.
    const [message] = error.message.split(', value is');
    countedTwice += windowsLineBreaks((error.record ?? []) as string[]);
    const reason = message!.replace(/(?<= line )\d+/, (line) => String(Number(line) - countedTwice));
    throw new DataError(`the file, whose separator must be a comma, is not valid CSV: ${reason}`);
  }
}

function windowsLineBreaks(record: readonly string[]): number {
  return record.join().split('\r\n').length - 1;
}

/** Throws `DataError` for bytes that the parser would silently replace. A byte order mark indicates UTF-16. */
async function* validText(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let decoder: TextDecoder | undefined;
  try {
    for await (const chunk of input) {
      const isUtf16 = chunk[0] === 0xff && chunk[1] === 0xfe;
      decoder ??= new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8', { fatal: true });
      decoder.decode(chunk, { stream: true });
      yield chunk;
    }
    decoder?.decode();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error;
    throw new DataError('the file is not UTF-8: export it again in this encoding', { cause: error });
  }
}

interface Row {
  record: string[];
  number: number;
  end: number;
}

function checkedColumns(names: readonly string[]): readonly string[] {
  for (const name of names) {
    const isKnown = TEXTS.includes(name) || JSON_FIELDS.includes(name) || MEMBER.test(name);
    if (isKnown) continue;
    const fields = `use ${[...TEXTS, ...JSON_FIELDS].join(', ')}, or mapping.SCHEMA and properties.NAME`;
    const remedy = /[;\t]/.test(name) ? 'separate the columns with commas' : fields;
    throw new DataError(`the column ${JSON.stringify(name)} is not a field: ${remedy}`);
  }
  const [repeated] = names.filter((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw new DataError(`the column ${repeated} occurs twice`);
  for (const object of ['mapping', 'properties'])
    if (names.includes(object) && names.some((name) => name.startsWith(`${object}.`)))
      throw new DataError(`the file has both ${object} and members of it as columns: use one of them`);
  return names;
}

/** Writes a record as a line of an import, whose rules then find violations. */
function recordJson(columns: readonly string[], record: readonly string[]): JsonText {
  const fields = new Map<string, JsonText>();
  const objects = { mapping: new Map<string, JsonText>(), properties: new Map<string, JsonText>() };
  for (const [index, column] of columns.entries()) {
    // Spreadsheets write TRUE, and Python writes True.
    const cell = column === 'suspended' ? record[index]!.toLowerCase() : record[index]!;
    if (cell === '') continue;
    const [, object, member] = MEMBER.exec(column) ?? [];
    if (object !== undefined) objects[object as keyof typeof objects].set(member!, jsonText(cell));
    // A part of an object could continue as further fields; as a text, it is refused.
    else if (TEXTS.includes(column) || parseLenient(cell) === undefined) fields.set(column, jsonText(cell));
    else fields.set(column, cell as JsonText);
  }
  for (const [name, members] of Object.entries(objects))
    if (members.size > 0) fields.set(name, objectText(members));
    else if (columns.some((column) => column.startsWith(`${name}.`))) fields.set(name, NULL);
  return objectText(fields);
}
