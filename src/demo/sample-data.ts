// The demo: three customers, two regions with a sample file each, and the orders in them. What a customer
// sees is decided by two stored values: its mapping selects the file, and a property selects the rows.

export const samples = ['orders-eu', 'orders-us'] as const;
/** Names a sample file. Never taken from a request: only these files are opened. */
export type Sample = (typeof samples)[number];

export const demoIds = {
  schema: 'demo-orders',
  integration: 'demo-dashboard',
} as const;

export interface DemoCustomer {
  userGroupId: string;
  name: string;
  sample: Sample;
  properties: {
    customer_id: string;
    region: 'EU' | 'US';
    plan: 'silver' | 'gold' | 'platinum';
    seats: number;
  };
  /** The amounts of its orders, by month. */
  orders: readonly (readonly number[])[];
}

export const months = ['2026-01', '2026-02', '2026-03', '2026-04', '2026-05', '2026-06'] as const;

export const demoCustomers = [
  {
    userGroupId: 'demo-alpenglow',
    name: 'Alpenglow Coffee (demo)',
    sample: 'orders-eu',
    properties: { customer_id: 'C-1001', region: 'EU', plan: 'gold', seats: 12 },
    orders: [
      [410, 220],
      [380, 310, 95],
      [540, 260],
      [620, 410],
      [705, 330, 120],
      [840, 515],
    ],
  },
  {
    userGroupId: 'demo-nordwind',
    name: 'Nordwind Bikes (demo)',
    sample: 'orders-eu',
    properties: { customer_id: 'C-1002', region: 'EU', plan: 'silver', seats: 4 },
    orders: [[1_250], [990, 340], [1_480, 620], [2_110, 1_045], [2_490, 870, 410], [1_930, 760]],
  },
  {
    userGroupId: 'demo-redwood',
    name: 'Redwood Books (demo)',
    sample: 'orders-us',
    properties: { customer_id: 'C-2001', region: 'US', plan: 'platinum', seats: 40 },
    orders: [
      [88, 64, 45],
      [71, 39],
      [102, 57, 66, 31],
      [94, 83],
      [77, 128, 49],
      [151, 90, 62],
    ],
  },
] as const satisfies readonly DemoCustomer[];

export function sampleDataSourceId(sample: Sample): string {
  return `demo-${sample}`;
}
