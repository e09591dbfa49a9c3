/**
 * The conformance suite names `globSync` of `fs`, which Node has from 22 on, for a command that is
 * not used here.
 */
import { register } from 'node:module';

const FS = `import * as fs from 'node:fs';
export * from 'node:fs';
export default fs.default;
export const globSync = fs.globSync ?? (() => { throw new Error('this Node has no fs.globSync'); });`;
const HOOKS = `const url = 'data:text/javascript,' + encodeURIComponent(${JSON.stringify(FS)});
export const resolve = (specifier, context, next) =>
  specifier === 'fs' && context.parentURL?.includes('/@modelcontextprotocol/conformance/') ? { url, format: 'module', shortCircuit: true } : next(specifier, context);`;

register(`data:text/javascript,${encodeURIComponent(HOOKS)}`);
