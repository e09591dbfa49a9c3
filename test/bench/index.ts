/** `npm run bench`: the figures of this machine, each beside a limit or a peer. Nothing here fails on a time. */
import { availableParallelism, cpus, loadavg } from 'node:os';
import { printed, type Section } from './figures.ts';
import { pagePaint } from './page-paint.ts';
import { pageWeight } from './page-weight.ts';
import { wakeFigures } from './wake.ts';

const SECTIONS: readonly (() => Promise<Section>)[] = [wakeFigures, pageWeight, pagePaint];

console.log(`Node ${process.versions.node}, ${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}, load ${(loadavg()[0] ?? 0).toFixed(1)} before\n`);
for (const section of SECTIONS) console.log(printed(await section()));
