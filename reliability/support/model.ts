// Models the possible states of a user group, given the responses to callers. An operation with a response
// has taken effect; an operation whose response was lost may or may not have; concurrent operations may have
// taken effect in any order. Every response must match at least one of the states that remain possible.

/** Facts about one group; null if callers do not know the value yet. Mapping and properties are JSON text. */
export interface Group {
  teamId: number | null;
  token: string | null;
  version: number;
  name: string;
  mapping: string | null;
  properties: string | null;
  replaced: { token: string; isRetiring: boolean } | null;
}

/** null if no group has the id. */
export type State = Group | null;

type Fields = Pick<Group, 'name' | 'mapping' | 'properties'>;

export type Operation =
  | ({ kind: 'create' } & Fields)
  | { kind: 'read' }
  | { kind: 'update'; fields: Partial<Fields> }
  | { kind: 'rotate'; token: string; isGraceful: boolean }
  | { kind: 'resolve'; token: string }
  | { kind: 'delete' };

export type Verdict = 'created' | 'present' | 'retiring' | 'absent' | 'deleted';

/** Result that the service returned: a verdict, and the facts of the group in the response. */
export interface Response {
  verdict: Verdict;
  facts: Partial<Omit<Group, 'replaced'>>;
}

export interface Exchange {
  operation: Operation;
  /** null if the response was lost. */
  response: Response | null;
}

/** Whether callers knew a value before these operations: a newly issued value must be new. */
type IsKnown = (fact: 'teamId' | 'token', value: number | string) => boolean;

/** Returns the possible states after concurrent operations; empty if the responses are impossible. */
export function statesAfter(
  states: readonly State[],
  exchanges: readonly Exchange[],
  isKnown: IsKnown,
): State[] {
  const found = new Map<string, State>();
  const visit = (state: State, remaining: readonly Exchange[]): void => {
    if (remaining.every(({ response }) => response === null)) found.set(JSON.stringify(state), state);
    for (const [index, next] of remaining.entries()) {
      const after = stateAfter(state, next, isKnown);
      if (after !== undefined) visit(after, remaining.toSpliced(index, 1));
    }
  };
  for (const state of states) visit(state, exchanges);
  return [...found.values()];
}

/** Returns undefined if the response does not match. */
function stateAfter(state: State, { operation, response }: Exchange, isKnown: IsKnown): State | undefined {
  const [verdict, after] = perform(state, operation);
  if (response === null) return after;
  if (response.verdict !== verdict) return undefined;
  return after === null ? null : withFacts(after, response.facts, isKnown);
}

function withFacts(group: Group, facts: Response['facts'], isKnown: IsKnown): Group | undefined {
  const known = { ...group };
  for (const fact of ['teamId', 'token'] as const) {
    const value = facts[fact];
    if (value === undefined || value === null || known[fact] !== null) continue;
    if (isKnown(fact, value)) return undefined;
    Object.assign(known, { [fact]: value });
  }
  const matches = Object.entries(facts).every(([fact, value]) => known[fact as keyof Group] === value);
  return matches ? known : undefined;
}

/** Returns the response and the effect of an operation according to the contract. */
export function perform(state: State, operation: Operation): [Verdict, State] {
  if (operation.kind === 'create' && state === null) return ['created', newGroup(operation)];
  if (state === null) return ['absent', null];
  switch (operation.kind) {
    case 'create':
    case 'read':
      return ['present', state];
    case 'update':
      return ['present', updated(state, operation.fields)];
    case 'rotate':
      return rotated(state, operation);
    case 'resolve':
      return resolved(state, operation.token);
    case 'delete':
      return ['deleted', null];
    default:
      return operation satisfies never;
  }
}

function newGroup({ name, mapping, properties }: Fields): Group {
  return { teamId: null, token: null, version: 1, name, mapping, properties, replaced: null };
}

function updated(group: Group, fields: Partial<Fields>): Group {
  const changes = Object.entries(fields).some(([field, value]) => group[field as keyof Fields] !== value);
  return changes ? { ...group, ...fields, version: group.version + 1 } : group;
}

/** Repeating the last rotation returns the same result and changes nothing. */
function rotated(group: Group, { token, isGraceful }: Operation & { kind: 'rotate' }): [Verdict, State] {
  if (group.replaced?.token === token) return ['present', group];
  if (group.token !== token) return ['absent', group];
  const replaced = { token, isRetiring: isGraceful };
  return ['present', { ...group, token: null, version: group.version + 1, replaced }];
}

function resolved(group: Group, token: string): [Verdict, State] {
  if (group.token === token) return ['present', group];
  const isRetiring = group.replaced?.token === token && group.replaced.isRetiring;
  return [isRetiring ? 'retiring' : 'absent', group];
}
