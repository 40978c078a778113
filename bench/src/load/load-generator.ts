/** A process that generates load from a plan file and prints the result as one line of JSON. */
import { readFileSync } from 'node:fs';
import { runLoad } from './load.ts';
import { type LoadPlan, requestMaker } from './load-plan.ts';
import { runOpenLoad } from './open-load.ts';

const plan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as LoadPlan;
const request = requestMaker(plan.request);
const count = plan.count ?? Number.POSITIVE_INFINITY;
const result =
  plan.perSecond === null
    ? await runLoad({ ...plan, request: (index) => (index < count ? request(index) : null) })
    : await runOpenLoad({ ...plan, perSecond: plan.perSecond, request });
console.log(JSON.stringify(result));
