// Calls in any order, each through any of the processes that serve one database, and every answer held to the model
// byte for byte. A sequence that finds something is made shorter before it is shown.

import fc from 'fast-check';
import type { Bucket } from '../src/domain/bucket.ts';
import { mintUserGroupToken } from '../src/domain/token.ts';
import type { DatabaseKind } from '../test/database.ts';
import { send, type TestAnswer, type TestRequest } from '../test/http.ts';
import { Folder, type Service, serve } from '../test/process.ts';
import { bodyOf } from './conversation.ts';
import { type Call, ExactModel, type IfMatch } from './exact-model.ts';
import { DatabaseIssuer } from './issuer.ts';
import { PromiseBroken } from './ledger.ts';

export interface SequenceOptions {
  kind: DatabaseKind;
  sequences: number;
  /** Processes that serve the database together; SQLite takes one. */
  processes: number;
  seed: number;
  /** To one sequence, as an earlier run has printed it. */
  path?: string | undefined;
  onSequence: (sequences: number) => void;
}

export interface SequenceFigures {
  sequences: number;
  calls: number;
}

const LONGEST_SEQUENCE = 60;

/** Throws `PromiseBroken`, with what repeats the sequence. */
export async function callInAnyOrder({
  kind,
  processes,
  ...options
}: SequenceOptions): Promise<SequenceFigures> {
  using folder = new Folder();
  const database = await kind.create();
  const services: Service[] = [];
  try {
    while (services.length < processes) services.push(await serve(folder, { env: database.env }));
    await using issuer = await DatabaseIssuer.open(database);
    const { token } = await issuer.create('default', 'Customer');
    return await callServices(
      services.map(({ url }) => url),
      token,
      options,
    );
  } finally {
    await Promise.all(services.map((service) => service.kill()));
    await database.drop();
  }
}

/** The same with services that run. */
export async function callServices(
  urls: readonly string[],
  token: string,
  { sequences, seed, path, onSequence }: Omit<SequenceOptions, 'kind' | 'processes'>,
): Promise<SequenceFigures> {
  const figures = { sequences: 0, calls: 0 };
  let attempts = 0;
  const property = fc.asyncProperty(commands, async (steps) => {
    // Groups of its own for each.
    const place = { urls, token, prefix: `${attempts++}/` };
    await fc.asyncModelRun(() => ({ model: new ExactModel(), real: place }), steps);
    onSequence(++figures.sequences);
    figures.calls += [...steps].length;
  });
  const details = await fc.check(property, { seed, numRuns: sequences, ...(path !== undefined && { path }) });
  if (details.failed) throw new PromiseBroken(failure(details));
  return figures;
}

function failure<Steps>(details: fc.RunDetails<[Steps]>): string {
  const { seed, counterexample, counterexamplePath, errorInstance } = details;
  const { message } = errorInstance as Error;
  // The rest of the path is of no use: it would need the commands that were not run.
  const [first] = counterexamplePath!.split(':');
  return `${message}\n${counterexample}\nrepeat with --seed ${seed} --path ${first}`;
}

/** Where commands are run. */
interface Place {
  urls: readonly string[];
  token: string;
  /** Of the ids of all groups. */
  prefix: string;
}

type Command = fc.AsyncCommand<ExactModel, Place, true>;

/** A call before it is known which tokens there are: `back` counts from the newest. */
type Plan =
  | Exclude<Call, { token: string }>
  | { kind: 'rotate'; back: number; graceSeconds: number }
  | { kind: 'resolve'; back: number };

class CallCommand implements Command {
  readonly #id: string;
  readonly #plan: Plan;
  readonly #process: number;

  constructor(id: string, plan: Plan, process: number) {
    this.#id = id;
    this.#plan = plan;
    this.#process = process;
  }

  async check(): Promise<true> {
    return true;
  }

  async run(model: ExactModel, { urls, token, prefix }: Place): Promise<void> {
    const id = prefix + this.#id;
    const call = withToken(this.#plan, model.tokens);
    const from = Date.now();
    const answer = await send(urls[this.#process % urls.length]!, { ...requestOf(id, call, model), token });
    model.check(id, call, answer, { from, to: Date.now() });
  }

  toString(): string {
    return `${this.#id} through ${this.#process}: ${JSON.stringify(this.#plan)}`;
  }
}

class ListCommand implements Command {
  readonly #limit: number;
  readonly #process: number;

  constructor(limit: number, process: number) {
    this.#limit = limit;
    this.#process = process;
  }

  async check(): Promise<true> {
    return true;
  }

  /** Each page through the next process. */
  async run(model: ExactModel, { urls, token, prefix }: Place): Promise<void> {
    const pages: TestAnswer[] = [];
    const list = `/v1/user-groups?limit=${this.#limit}&search=${encodeURIComponent(prefix)}`;
    for (let cursor: string | null | undefined; cursor !== null; cursor = nextAfter(pages.at(-1)!)) {
      const path = cursor === undefined ? list : `${list}&cursor=${encodeURIComponent(cursor)}`;
      pages.push(await send(urls[(this.#process + pages.length) % urls.length]!, { path, token }));
    }
    model.checkPages(prefix, this.#limit, pages);
  }

  toString(): string {
    return `list by ${this.#limit} through ${this.#process}`;
  }
}

/** null also where the page was refused. */
function nextAfter({ json }: TestAnswer): string | null {
  return json.next_cursor ?? null;
}

function withToken(plan: Plan, tokens: readonly string[]): Call {
  if (!('back' in plan)) return plan;
  const { back, ...call } = plan;
  return { ...call, token: tokens.at(-1 - back) ?? mintUserGroupToken(0 as Bucket).reveal() };
}

function requestOf(id: string, call: Call, model: ExactModel): TestRequest {
  const path = `/v1/user-groups/${encodeURIComponent(id)}`;
  const headers = 'ifMatch' in call ? { 'if-match': versions[call.ifMatch](id, model) } : {};
  switch (call.kind) {
    case 'get or create':
      return call.isV1
        ? { method: 'POST', path: '/v1/user-groups', body: bodyOf(id, call.fields) }
        : { method: 'GET', body: bodyOf(id, call.fields) };
    case 'update':
      return { method: 'PUT', body: bodyOf(id, call.fields), headers };
    case 'patch':
      return { method: 'PATCH', path, body: bodyOf(null, call.fields), headers };
    case 'rotate':
      return { method: 'POST', body: { current_token: call.token, grace_period_seconds: call.graceSeconds } };
    case 'resolve':
      return { method: 'POST', path: '/v1/resolve', body: { token: call.token } };
    case 'read':
      return { method: 'GET', path };
    case 'delete':
      return { method: 'DELETE', path, headers };
    default:
      return call satisfies never;
  }
}

const versions: Record<IfMatch, (id: string, model: ExactModel) => string | undefined> = {
  absent: () => undefined,
  current: (id, model) => model.etagOf(id),
  outdated: () => '"0-1"',
};

// ---- What is sent: few groups and few values, so that calls meet and fields come to be what they were. No key is a
// number, which the model would put in another place than where it was.

const ids = fc.constantFrom('a', 'Ä/é ?', 'b', '\u{1f642}');
const names = fc.constantFrom('Acme', '"Zoë" \\ \u{1f642}');
const mappings = fc.constantFrom(null, '{}', '{"s40":"213"}', '{"x y":7,"s40":"213"}');
const properties = fc.constantFrom(
  ...[null, '{}', '{"plan":"gold"}', '{"plan":"lead","n":1.10,"big":9007199254740993}'],
  ...['{"plan":"gold","deep":{"a":[1,null,"\\u0000"],"b":{}}}'],
);
const patches = fc.constantFrom(
  ...[
    null,
    '{}',
    '{"plan":null}',
    '{"plan":"new"}',
    '{"deep":{"a":null,"c":[1e400]}}',
    '{"deep":{"b":{"d":0}}}',
  ],
);
const mappingPatches = fc.constantFrom(null, '{}', '{"s40":null}', '{"x y":8}', '{"z":"1"}');

const fields = fc.record({ name: names, mapping: mappings, properties }, { requiredKeys: [] });
const patchFields = fc.record(
  { name: names, mapping: mappingPatches, properties: patches },
  { requiredKeys: [] },
);
const ifMatch = fc.constantFrom('absent', 'absent', 'current', 'outdated');
const back = fc.nat({ max: 3 });
const graceSeconds = fc.constantFrom(0, 3_600);

const kind = <Kind extends Plan['kind']>(name: Kind) => fc.constant(name);
const plans = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: kind('get or create'), isV1: fc.boolean(), fields }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('update'), fields, ifMatch }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('patch'), fields: patchFields, ifMatch }) },
  { weight: 3, arbitrary: fc.record({ kind: kind('rotate'), back, graceSeconds }) },
  { weight: 3, arbitrary: fc.record({ kind: kind('resolve'), back }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('read') }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('delete'), ifMatch }) },
) as fc.Arbitrary<Plan>;

const process = fc.nat({ max: 3 });
const commands = fc.commands<ExactModel, Place, true>(
  [
    fc.tuple(ids, plans, process).map((parts) => new CallCommand(...parts)),
    fc.tuple(fc.constantFrom(1, 2, 50), process).map((parts) => new ListCommand(...parts)),
  ],
  { maxCommands: LONGEST_SEQUENCE, size: '+1' },
);
