// Program that prints the size in megabytes of the young generation of a thread that keeps much of what it
// creates.

import { Worker } from 'node:worker_threads';
import { limitHeaps } from '../../src/system/small-heap.ts';

const CODE = `
  const { getHeapSpaceStatistics } = require('node:v8');
  const kept = [];
  let largest = 0;
  for (let index = 0; index < 3_000_000; index++) {
    kept[index % 300_000] = { index };
    if (index % 10_000 !== 0) continue;
    const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
    largest = Math.max(largest, young.physical_space_size);
  }
  console.log(Math.round(largest / 1_000_000));
`;

limitHeaps();
new Worker(CODE, { eval: true, resourceLimits: { maxYoungGenerationSizeMb: Number(process.argv[2]) } });
