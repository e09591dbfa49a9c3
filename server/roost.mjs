#!/usr/bin/env node
/**
 * `npx roost`: runs the relay that was built into this package. Plain JavaScript, because an old
 * Node must be able to read it before it is told to update.
 */
import * as nodeModule from 'node:module';
import { URL } from 'node:url';

const OLDEST = [20, 19];

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  console.error(`Roost needs Node.js ${OLDEST.join('.')} or later. This is ${process.versions.node}: update it.`);
  process.exit(1);
}
// Node 22 and later keep what they have compiled for the next start.
nodeModule.enableCompileCache?.();
await import(new URL('../dist/package/server/main.js', import.meta.url).href);
