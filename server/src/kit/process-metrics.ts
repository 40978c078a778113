import { readdirSync, readFileSync } from 'node:fs';
import { constants, type PerformanceEntry, PerformanceObserver, performance } from 'node:perf_hooks';
import { VERSION } from './build.ts';
import { watchEventLoop } from './event-loop-delay.ts';
import type { Metrics } from './metrics.ts';

/** Metrics of the operating system process and of Node, with the names that Prometheus client libraries use. */
export function watchProcess(metrics: Metrics): void {
  metrics.gauge(
    'caudal_build_info',
    'Always 1; its labels are the version of the server and of Node.',
    () => [{ labels: { version: VERSION, node: process.versions.node }, value: 1 }],
  );
  metrics.readCounter('process_cpu_seconds_total', 'CPU time of the process, user and system.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  metrics.gauge('process_resident_memory_bytes', 'Resident memory of the process.', () =>
    process.memoryUsage.rss(),
  );
  metrics.gauge('process_start_time_seconds', 'When the process started, in seconds since 1970.', () =>
    Math.round(performance.timeOrigin / 1000),
  );
  metrics.gauge('process_open_fds', 'Open file descriptors; Linux only.', countDescriptors);
  metrics.gauge('process_max_fds', 'Maximum open file descriptors; Linux only.', readDescriptorLimit);
  metrics.gauge(
    'nodejs_heap_size_used_bytes',
    'Used part of the JavaScript heap.',
    () => process.memoryUsage().heapUsed,
  );
  metrics.gauge(
    'nodejs_heap_size_total_bytes',
    'Size of the JavaScript heap.',
    () => process.memoryUsage().heapTotal,
  );
  watchGarbageCollection(metrics);
  watchEventLoop(metrics);
}

const GC_KINDS: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
};

interface GcEntry extends PerformanceEntry {
  readonly detail?: { readonly kind?: number };
}

function watchGarbageCollection(metrics: Metrics): void {
  const seconds = metrics.histogram(
    'nodejs_gc_duration_seconds',
    'Pauses for garbage collection, by kind.',
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
    { kind: Object.values(GC_KINDS) },
  );
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as readonly GcEntry[]) {
      const kind = GC_KINDS[entry.detail?.kind ?? -1];
      if (kind !== undefined) seconds.observe(entry.duration / 1000, { kind });
    }
  }).observe({ entryTypes: ['gc'] });
}

function countDescriptors(): number | null {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return null;
  }
}

function readDescriptorLimit(): number | null {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null;
  }
}
