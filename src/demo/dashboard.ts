// The sample dashboard: does with a demo user group what a dashboard server does with every user group. The
// effective data source selects the database, a property is bound as a parameter of the query, and nothing
// replaces either of them if it is missing.

import type { DataSource, EffectiveMapping, Unresolved } from '../domain/catalogue/catalogue.ts';
import { GroupValues } from '../domain/embed-token/template.ts';
import type { UserGroup } from '../domain/user-group/user-group.ts';
import { demoIds, type Sample, samples } from './sample-data.ts';
import { type MonthlyRevenue, REVENUE_SQL, readRevenue } from './sample-file.ts';

export interface Dashboard {
  dataSource: DataSource;
  sql: string;
  /** The values of the parameters of the query. */
  parameters: Readonly<Record<string, string>>;
  rows: readonly MonthlyRevenue[];
}

/** Error that the dashboard shows instead of data. */
export interface DashboardError {
  error: string;
}

/** Returns null for a user group outside the demo. `directory` has the sample files; null if there are none. */
export function sampleDashboard(
  directory: string | null,
  userGroup: UserGroup,
  effective: EffectiveMapping | null,
): Dashboard | DashboardError | null {
  if (effective === null) return null;
  const unresolved = effective.unresolved.find(({ schemaId }) => schemaId === demoIds.schema);
  if (unresolved !== undefined) return { error: unresolvedText(unresolved) };
  const dataSource = effective.dataSources.get(demoIds.schema);
  const sample = dataSource === undefined ? null : findSample(dataSource);
  if (dataSource === undefined || sample === null) return null;
  if (userGroup.suspendedAt !== null)
    return { error: 'The user group is suspended: its token resolves to nothing.' };
  const customerId = textProperty(userGroup, 'customer_id');
  if (customerId === null)
    return { error: 'The property customer_id is missing or no text: the query does not run without it.' };
  if (directory === null)
    return { error: 'This service stores its data in PostgreSQL and has no sample files.' };
  const rows = readRevenue(directory, sample, customerId);
  if ('error' in rows) return rows;
  return { dataSource, sql: REVENUE_SQL, parameters: { customer_id: customerId }, rows };
}

function unresolvedText({ reference, reason }: Unresolved): string {
  return reason === 'reserved'
    ? `The data source ${reference} is reserved for another user group.`
    : `No data source of the schema ${demoIds.schema} is called ${reference}.`;
}

function findSample({ json }: DataSource): Sample | null {
  const { demo } = (JSON.parse(json) as { attributes: { demo?: unknown } }).attributes;
  return samples.find((sample) => sample === demo) ?? null;
}

function textProperty(userGroup: UserGroup, name: string): string | null {
  const text = new GroupValues(userGroup).property(name);
  const value: unknown = text === null ? null : JSON.parse(text);
  return typeof value === 'string' && value !== '' ? value : null;
}
