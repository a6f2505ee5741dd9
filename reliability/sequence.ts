// Sends calls in random order, each to a random one of the processes that serve a database, and compares
// every response with the model byte for byte. Shrinks a failing sequence before reporting it.

import fc from 'fast-check';
import type { Bucket } from '../src/domain/bucket.ts';
import type { Environment } from '../src/domain/tenant.ts';
import { mintUserGroupToken } from '../src/domain/token.ts';
import { send, type TestRequest, type TestResponse } from '../test/support/http.ts';
import { type Call, ExactModel, type IfMatch, Issued } from './sequence/exact-model.ts';
import { PromiseBroken } from './support/ledger.ts';
import { type Processes, whileServing } from './support/serving.ts';
import type { TokenIssuer } from './support/token-issuer.ts';
import { bodyOf } from './support/workload.ts';

interface SequenceOptions extends Processes {
  sequences: number;
  seed: number;
  /** The path to one sequence, as printed by an earlier run. */
  path?: string | undefined;
  onSequence: (sequences: number) => void;
}

interface SequenceFigures {
  sequences: number;
  calls: number;
}

const LONGEST_SEQUENCE = 60;

/** Throws `PromiseBroken` with the options that repeat the sequence. */
export function runSequences(options: SequenceOptions): Promise<SequenceFigures> {
  return whileServing(options, async ({ site, issuer }) =>
    callServices(site.urls, await callersOf(issuer), options),
  );
}

/** API token of a workspace and environment that no other caller uses. */
interface SequenceCaller {
  token: string;
  environment: Environment;
}

/**
 * Creates the callers. The first sends most of the calls; the others differ in workspace or environment, and
 * use the same ids and names.
 */
export async function callersOf(issuer: Pick<TokenIssuer, 'create'>): Promise<SequenceCaller[]> {
  const tenants: [workspace: string, Environment][] = [
    ['default', 'Customer'],
    ['default', 'Testing'],
    ['another', 'Customer'],
  ];
  const callers: SequenceCaller[] = [];
  for (const [workspace, environment] of tenants) {
    callers.push({ token: (await issuer.create(workspace, environment)).token, environment });
  }
  return callers;
}

/** Runs the sequences on services that are already running. */
export async function callServices(
  urls: readonly string[],
  callers: readonly SequenceCaller[],
  { sequences, seed, path, onSequence }: Omit<SequenceOptions, keyof Processes>,
): Promise<SequenceFigures> {
  const figures = { sequences: 0, calls: 0 };
  let attempts = 0;
  const property = fc.asyncProperty(commands, async (steps) => {
    // A separate prefix isolates the groups of each sequence.
    const target = { urls, callers, prefix: `${attempts++}/` };
    await fc.asyncModelRun(() => ({ model: new World(callers), real: target }), steps);
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
  // The rest of the path is unusable, because it would require the commands that did not run.
  const [first] = counterexamplePath!.split(':');
  return `${message}\n${counterexample}\nrepeat with --seed ${seed} --path ${first}`;
}

/** System under test. */
interface Target {
  urls: readonly string[];
  callers: readonly SequenceCaller[];
  /** Prefix of the ids and names of all groups. */
  prefix: string;
}

/** Models, one for each caller. */
class World {
  readonly issued = new Issued();
  readonly models: readonly ExactModel[];

  constructor(callers: readonly SequenceCaller[]) {
    this.models = callers.map(({ environment }) => new ExactModel(environment, this.issued));
  }
}

/** Caller, by index, and process that receives the call. */
interface Route {
  caller: number;
  process: number;
}

type Command = fc.AsyncCommand<World, Target, true>;

/** Call whose token is not known yet: `back` counts from the newest token. */
type Plan =
  | Exclude<Call, { token: string }>
  | { kind: 'rotate'; back: number; graceSeconds: number }
  | { kind: 'resolve'; back: number };

class CallCommand implements Command {
  readonly #id: string;
  readonly #plan: Plan;
  readonly #route: Route;

  constructor(id: string, plan: Plan, route: Route) {
    this.#id = id;
    this.#plan = plan;
    this.#route = route;
  }

  async check(): Promise<true> {
    return true;
  }

  async run({ models, issued }: World, { urls, callers, prefix }: Target): Promise<void> {
    const { caller, process } = this.#route;
    const { token } = callers[caller]!;
    const model = models[caller]!;
    const id = prefix + this.#id;
    const call = withName(withToken(this.#plan, issued.tokens), prefix);
    const from = Date.now();
    const response = await send(urls[process % urls.length]!, { ...requestOf(id, call, model), token });
    model.check(id, call, response, { from, to: Date.now() });
  }

  toString(): string {
    return `${this.#id} ${textOf(this.#route)}: ${JSON.stringify(this.#plan)}`;
  }
}

class ListCommand implements Command {
  readonly #search: string;
  readonly #limit: number;
  readonly #route: Route;

  constructor(search: string, limit: number, route: Route) {
    this.#search = search;
    this.#limit = limit;
    this.#route = route;
  }

  async check(): Promise<true> {
    return true;
  }

  /** Requests each page from the next process. */
  async run({ models }: World, { urls, callers, prefix }: Target): Promise<void> {
    const { caller, process } = this.#route;
    const { token } = callers[caller]!;
    const search = prefix + this.#search;
    const pages: TestResponse[] = [];
    const list = `/v1/user-groups?limit=${this.#limit}&search=${encodeURIComponent(search)}`;
    for (let cursor: string | null | undefined; cursor !== null; cursor = nextAfter(pages.at(-1)!)) {
      const path = cursor === undefined ? list : `${list}&cursor=${encodeURIComponent(cursor)}`;
      pages.push(await send(urls[(process + pages.length) % urls.length]!, { path, token }));
    }
    models[caller]!.checkPages(search, this.#limit, pages);
  }

  toString(): string {
    return `list of ${JSON.stringify(this.#search)} by ${this.#limit} ${textOf(this.#route)}`;
  }
}

function textOf({ caller, process }: Route): string {
  return `by ${caller} through ${process}`;
}

/** Returns null also if the page was rejected. */
function nextAfter({ json }: TestResponse): string | null {
  return json.next_cursor ?? null;
}

function withToken(plan: Plan, tokens: readonly string[]): Call {
  if (!('back' in plan)) return plan;
  const { back, ...call } = plan;
  return { ...call, token: tokens.at(-1 - back) ?? mintUserGroupToken(0 as Bucket).reveal() };
}

/** Gives names and new ids the same prefix as ids, so that a search finds only the groups of its sequence. */
function withName(call: Call, prefix: string): Call {
  if (call.kind === 'rename') return { ...call, to: prefix + call.to };
  if (!('fields' in call) || call.fields.name === undefined) return call;
  return { ...call, fields: { ...call.fields, name: prefix + call.fields.name } };
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
    case 'rename':
      return { method: 'POST', path: `${path}/rename`, body: { user_group_id: call.to }, headers };
    default:
      return call satisfies never;
  }
}

const versions: Record<IfMatch, (id: string, model: ExactModel) => string | undefined> = {
  absent: () => undefined,
  current: (id, model) => model.etagOf(id),
  outdated: () => '"0-1"',
};

// ---- The generated values: few groups and few values, so that calls conflict and fields return to earlier values. No
// key is a number, which the model would reorder.

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
  { weight: 2, arbitrary: fc.record({ kind: kind('rename'), to: ids, ifMatch }) },
) as fc.Arbitrary<Plan>;

/** Searches that match all groups of the sequence, only ids, only names, or both. */
const searches = fc.constantFrom('', 'a', 'A', 'Acme', '"Zoë');
const route = fc.record({
  caller: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constantFrom(1, 2) }),
  process: fc.nat({ max: 3 }),
});
const commands = fc.commands<World, Target, true>(
  [
    fc.tuple(ids, plans, route).map((parts) => new CallCommand(...parts)),
    fc.tuple(searches, fc.constantFrom(1, 2, 50), route).map((parts) => new ListCommand(...parts)),
  ],
  { maxCommands: LONGEST_SEQUENCE, size: '+1' },
);
