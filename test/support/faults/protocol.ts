// Implements the part of PostgreSQL's wire protocol that fault injection needs: message boundaries, the
// statements of a request, and error responses.
// https://www.postgresql.org/docs/18/protocol-message-formats.html

const AUTHENTICATION = 'R'.charCodeAt(0);
const BIND = 'B'.charCodeAt(0);
const COMMAND_COMPLETE = 'C'.charCodeAt(0);
const DATA_ROW = 'D'.charCodeAt(0);
const ERROR_RESPONSE = 'E'.charCodeAt(0);
const PARAMETER_STATUS = 'S'.charCodeAt(0);
const PARSE = 'P'.charCodeAt(0);
const QUERY = 'Q'.charCodeAt(0);
const READY_FOR_QUERY = 'Z'.charCodeAt(0);
const SYNC = 'S'.charCodeAt(0);
const TERMINATE = 'X'.charCodeAt(0);

/** Splits a byte stream into complete messages. */
export class MessageSplitter {
  #rest = Buffer.alloc(0);
  /** Length of the type byte, which the first message of a client does not have. */
  #typeLength: 0 | 1;

  constructor(from: 'client' | 'server') {
    this.#typeLength = from === 'client' ? 0 : 1;
  }

  /** Returns the messages completed by these bytes. */
  push(bytes: Buffer): Buffer[] {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const messages: Buffer[] = [];
    for (;;) {
      const lengthAt = this.#typeLength;
      if (this.#rest.length < lengthAt + 4) return messages;
      const end = lengthAt + this.#rest.readInt32BE(lengthAt);
      if (this.#rest.length < end) return messages;
      messages.push(this.#rest.subarray(0, end));
      this.#rest = this.#rest.subarray(end);
      this.#typeLength = 1;
    }
  }
}

/** Whether the message ends a request, after which the server responds. */
export function endsRequest([type]: Buffer): boolean {
  return type === SYNC || type === QUERY || type === TERMINATE;
}

/** Returns the statements of a request: the names of prepared statements, or else the SQL. */
export function subjectsOf(request: readonly Buffer[]): string[] {
  const subjects = new Set<string>();
  for (const message of request) {
    const [first, second] = message.subarray(5).toString('latin1').split('\0');
    if (message[0] === QUERY) subjects.add(first!);
    if (message[0] === BIND && second) subjects.add(second);
    if (message[0] === PARSE) subjects.add(first || second!);
  }
  return [...subjects];
}

/** Returns the transaction status if the message is ReadyForQuery, else null. */
export function readyState(message: Buffer): string | null {
  return message[0] === READY_FOR_QUERY ? String.fromCharCode(message[5]!) : null;
}

/** Returns the message with which a server reports a setting. */
export function parameterStatus(name: string, value: string): Buffer {
  return message(PARAMETER_STATUS, `${name}\0${value}\0`);
}

/** Returns the message with a row of a result. The values are ASCII. */
export function dataRow(...values: string[]): Buffer {
  const cells = values.map((value) => `\0\0\0${String.fromCharCode(value.length)}${value}`);
  return message(DATA_ROW, `\0${String.fromCharCode(values.length)}${cells.join('')}`);
}

/** Whether the message reports the completion of a statement with this command tag. */
export function completes(message: Buffer, command: string): boolean {
  return message[0] === COMMAND_COMPLETE && message.toString('latin1', 5).startsWith(command);
}

/** Whether the message asks for a password, or accepts the session without one. */
export function authenticates(message: Buffer): boolean {
  return message[0] === AUTHENTICATION;
}

/** Whether the message reports an error after which the server closes the connection. */
export function isFatal(message: Buffer): boolean {
  return message[0] === ERROR_RESPONSE && message.includes('SFATAL\0');
}

export interface ServerError {
  code: string;
  /** Severity in the language of the server. */
  severity?: string;
  /** Server function that reported the error. */
  routine?: string;
  text?: string;
}

/**
 * Returns the complete response of a server that rejects a request; `state` is the transaction status before
 * it.
 */
export function rejection(error: ServerError, state: string): Buffer {
  return Buffer.concat([errorResponse(error), message(READY_FOR_QUERY, state === 'I' ? 'I' : 'E')]);
}

/** Returns the message with which a server reports an error. */
export function errorResponse(error: ServerError): Buffer {
  const { code, severity = 'ERROR', routine = 'test', text = 'refused by a test' } = error;
  const fields = { S: severity, V: 'ERROR', C: code, M: text, R: routine };
  const parts = Object.entries(fields).map(([type, value]) => `${type}${value}\0`);
  return message(ERROR_RESPONSE, `${parts.join('')}\0`);
}

function message(type: number, text: string): Buffer {
  const body = Buffer.from(text);
  const head = Buffer.alloc(5);
  head.writeUInt8(type);
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}
