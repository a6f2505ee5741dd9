// What a user group may be, given what callers were told of it. An operation that was answered has happened; one
// whose answer was lost may have happened or not; operations that were under way at one time may have happened in
// any order. Whatever the service says must fit at least one of the states that this leaves.

/** What is true of one group; null where callers have not been told yet. Mapping and properties are JSON text. */
export interface Group {
  teamId: number | null;
  token: string | null;
  version: number;
  name: string;
  mapping: string | null;
  properties: string | null;
  replaced: { token: string; isRetiring: boolean } | null;
}

/** null: there is no group of the id. */
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

/** What the service said: a verdict, and the facts of the group that it showed. */
export interface Answer {
  verdict: Verdict;
  facts: Partial<Omit<Group, 'replaced'>>;
}

export interface Told {
  operation: Operation;
  /** null: the answer was lost. */
  answer: Answer | null;
}

/** Whether callers knew a value before these operations: a value that is new to them must be new. */
export type IsKnown = (fact: 'teamId' | 'token', value: number | string) => boolean;

/** The states that are possible after operations that were under way at one time; none where the answers lie. */
export function statesAfter(states: readonly State[], told: readonly Told[], isKnown: IsKnown): State[] {
  const found = new Map<string, State>();
  const visit = (state: State, rest: readonly Told[]): void => {
    if (rest.every(({ answer }) => answer === null)) found.set(JSON.stringify(state), state);
    for (const [index, next] of rest.entries()) {
      const after = stateAfter(state, next, isKnown);
      if (after !== undefined) visit(after, rest.toSpliced(index, 1));
    }
  };
  for (const state of states) visit(state, told);
  return [...found.values()];
}

/** undefined where the answer does not fit. */
function stateAfter(state: State, { operation, answer }: Told, isKnown: IsKnown): State | undefined {
  const [verdict, after] = perform(state, operation);
  if (answer === null) return after;
  if (answer.verdict !== verdict) return undefined;
  return after === null ? null : withFacts(after, answer.facts, isKnown);
}

function withFacts(group: Group, facts: Answer['facts'], isKnown: IsKnown): Group | undefined {
  const learnt = { ...group };
  for (const fact of ['teamId', 'token'] as const) {
    const value = facts[fact];
    if (value === undefined || value === null || learnt[fact] !== null) continue;
    if (isKnown(fact, value)) return undefined;
    Object.assign(learnt, { [fact]: value });
  }
  const fits = Object.entries(facts).every(([fact, value]) => learnt[fact as keyof Group] === value);
  return fits ? learnt : undefined;
}

/** What the contract says that an operation does, and what it answers. */
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

/** Repeating the last rotation gives its result again and changes nothing. */
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
