/** A process that installs an engine or runs one workload on it; prints the result as the last line of its output. */
import { DRIVERS } from './drivers.ts';
import type { EngineTask } from './measure-engine.ts';
import { runWorkload } from './workload.ts';

const task = JSON.parse(process.argv[2] ?? '') as EngineTask;
const driver = await DRIVERS[task.engine]?.();
if (!driver) throw new Error(`no such engine: ${task.engine}`);
const result =
  task.workload === 'install' ? await driver.install(task.databaseUrl) : await runWorkload(driver, task);
console.log(JSON.stringify(result ?? null));
