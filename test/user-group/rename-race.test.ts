// Concurrent calls on several ids, through two processes on PostgreSQL, behave as if they were made one after
// the other: some order explains all responses.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Random } from '../../reliability/support/random.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import type { TestResponse } from '../support/http.ts';
import { TestService } from '../support/service.ts';

const ROUNDS = 80;
const PARALLEL = 6;

interface Group {
  teamId: number;
  version: number;
  token: string;
  replaced: string | null;
}

interface State {
  groups: Record<string, Group | null>;
  /** Last rename from or to each id. */
  renames: Record<string, { from: string; to: string; teamId: number; number: number } | null>;
}

type Call =
  | { kind: 'create' | 'read' | 'rotate' | 'delete'; id: string }
  | { kind: 'rename'; id: string; to: string }
  | { kind: 'resolve'; token: string };

interface Exchange {
  call: Call;
  response: TestResponse;
}

/** Returns the state after the call; null if the call could not have had this response. */
function stateAfter(state: State, { call, response }: Exchange): State | null {
  const { status, json } = response;
  if (call.kind === 'resolve') return isResolved(state, call.token, response) ? state : null;
  const { id } = call;
  const group = state.groups[id] ?? null;
  const shows = (shown: Group | null) =>
    shown === null
      ? status === 404
      : json.user_group?.team_id === shown.teamId &&
        json.user_group.token === shown.token &&
        (json.user_group.version ?? shown.version) === shown.version;
  const withGroup = (after: Group | null): State => ({ ...state, groups: { ...state.groups, [id]: after } });
  switch (call.kind) {
    case 'create': {
      if (json.new_user_group !== (group === null)) return null;
      const { team_id: teamId, token } = json.user_group;
      if (group === null) return withGroup({ teamId, version: 1, token, replaced: null });
      return shows(group) ? state : null;
    }
    case 'read':
      return shows(group) ? state : null;
    case 'delete':
      if (status !== (group === null ? 404 : 204)) return null;
      return withGroup(null);
    case 'rotate': {
      if (group === null) return status === 404 ? state : null;
      const rotated = {
        ...group,
        version: group.version + 1,
        token: json.user_group?.token,
        replaced: group.token,
      };
      return shows(rotated) && rotated.token !== group.token ? withGroup(rotated) : null;
    }
    default:
      return renamed(state, call, response, shows);
  }
}

function renamed(
  state: State,
  { id, to }: Call & { kind: 'rename' },
  { json }: TestResponse,
  shows: (group: Group | null) => boolean,
): State | null {
  const [group, holder] = [state.groups[id] ?? null, state.groups[to] ?? null];
  if (group === null) {
    const [left, arrived] = [state.renames[id], state.renames[to]];
    const isRepeated = left?.from === id && left.number === arrived?.number && holder?.teamId === left.teamId;
    return shows(isRepeated ? holder : null) ? state : null;
  }
  if (holder !== null) return json.code === 'user_group_exists' ? state : null;
  const after = { ...group, version: group.version + 1 };
  if (!shows(after)) return null;
  const numbers = Object.values(state.renames).map((rename) => rename?.number ?? 0);
  const rename = { from: id, to, teamId: group.teamId, number: 1 + Math.max(0, ...numbers) };
  return {
    groups: { ...state.groups, [id]: null, [to]: after },
    renames: { ...state.renames, [id]: rename, [to]: rename },
  };
}

function isResolved({ groups }: State, token: string, { status, json }: TestResponse): boolean {
  for (const [id, group] of Object.entries(groups)) {
    if (group?.token === token) return json.user_group?.provided_id === id && json.token.status === 'current';
    if (group?.replaced === token)
      return json.user_group?.provided_id === id && json.token.status === 'retiring';
  }
  return status === 404;
}

/** Returns the states after the exchanges in every order that explains their responses. */
function statesAfter(states: readonly State[], exchanges: readonly Exchange[]): State[] {
  const found = new Map<string, State>();
  const visit = (state: State, rest: readonly Exchange[]): void => {
    if (rest.length === 0) found.set(JSON.stringify(state), state);
    for (const [index, next] of rest.entries()) {
      const reached = stateAfter(state, next);
      if (reached !== null) visit(reached, rest.toSpliced(index, 1));
    }
  };
  for (const state of states) visit(state, exchanges);
  return [...found.values()];
}

describeOnEachDatabase('Concurrent renames', (database) => {
  const services = database.name === 'PostgreSQL' ? TestService.pairOf(database) : [TestService.of(database)];

  function send(call: Call, process: number): Promise<TestResponse> {
    const service = services[process % services.length]!;
    const more = { token: services[0]!.token };
    if (call.kind === 'resolve') return service.resolve(call.token, more);
    const path = `/v1/user-groups/${call.id}`;
    switch (call.kind) {
      case 'create':
        return service.get({ user_group_id: call.id, name: 'N' }, more);
      case 'read':
        return service.call('GET', path, undefined, more);
      case 'delete':
        return service.call('DELETE', path, undefined, more);
      case 'rotate':
        return service.call('POST', `${path}/rotate`, { grace_period_seconds: 3_600 }, more);
      default:
        return service.call('POST', `${path}/rename`, { user_group_id: call.to }, more);
    }
  }

  it(`are linearizable with creates, rotations, deletions and resolves, in ${ROUNDS} rounds`, async (test) => {
    const seed = Random.newSeed();
    test.diagnostic(`seed ${seed}`);
    const random = new Random(seed);
    let { ids, tokens, states } = start(0);
    for (let round = 0, starts = 1; round < ROUNDS; ) {
      const calls = Array.from({ length: PARALLEL }, () => nextCall(random, ids, tokens));
      const responses = await Promise.all(calls.map((call, index) => send(call, index)));
      // On a busy machine, a call may time out, and it is unknown whether it has changed anything.
      if (responses.some(({ status }) => status === 503)) {
        ({ ids, tokens, states } = start(starts++));
        continue;
      }
      const exchanges = calls.map((call, index) => ({ call, response: responses[index]! }));
      const after = statesAfter(states, exchanges);
      assert.notEqual(after.length, 0, explanation(round, states, exchanges));
      states = after;
      round++;
      for (const { json } of responses) {
        const token = json?.user_group?.token;
        if (token !== undefined && !tokens.includes(token)) tokens.push(token);
      }
    }
  });
});

/** Starts with groups that no call has named yet. */
function start(number: number): { ids: string[]; tokens: string[]; states: State[] } {
  return {
    ids: ['x', 'y', 'z'].map((id) => `${id}${number}`),
    tokens: [],
    states: [{ groups: {}, renames: {} }],
  };
}

/** Returns a line for each call, and the states before the calls. */
function explanation(round: number, states: readonly State[], exchanges: readonly Exchange[]): string {
  const lines = exchanges.map(
    ({ call, response: { status, json } }) =>
      `${JSON.stringify(call)} ${status} ${JSON.stringify(json?.code ?? json?.user_group ?? null)}`,
  );
  return [`no order explains round ${round}:`, ...lines, ...states.map((each) => JSON.stringify(each))].join(
    '\n',
  );
}

function nextCall(random: Random, ids: readonly string[], tokens: readonly string[]): Call {
  const id = random.pick(ids);
  const kind = random.pick([
    'create',
    'rename',
    'rename',
    'rotate',
    'delete',
    'read',
    'resolve',
    'resolve',
  ] as const);
  if (kind === 'rename') return { kind, id, to: random.pick(ids.filter((other) => other !== id)) };
  const token = tokens.length === 0 ? undefined : random.pick(tokens.slice(-3));
  if (kind === 'resolve') return token === undefined ? { kind: 'read', id } : { kind, token };
  return { kind, id };
}
