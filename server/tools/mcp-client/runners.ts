/**
 * What this machine has set for programs that fetch others (`npx`, `bunx`, `uvx`). Their own
 * settings are asked, when a page wants to know.
 */
import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { keepLoaded } from '../../../src/shared/domain/platform/single-flight.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import { RUNNERS, type Runner } from '../../../src/shared/protocol/runners.ts';
import { programAt, type Processes } from '../../platform/processes/index.ts';
import { ATTACHED_LIMITS, type AttachedLimits } from './settings.ts';

/** Who is asked for the address that each fetches from, and the variable by which it is told. */
const ASKS: Readonly<
  Record<Runner['command'], { readonly ask: readonly [string, ...string[]]; readonly name: string }>
> = {
  npx: { ask: ['npm', 'config', 'get', 'registry'], name: 'npm_config_registry' },
  bunx: { ask: ['npm', 'config', 'get', 'registry'], name: 'npm_config_registry' },
  uvx: { ask: ['pip', 'config', 'get', 'global.index-url'], name: 'UV_DEFAULT_INDEX' },
};
/** Variables of the relay in which such an address may stand. */
const SET_BY =
  /^(?:npm_config_registry|npm_config_userconfig|pip_index_url|pip_config_file|uv_default_index|uv_index_url)$/i;

export interface RunnersDeps {
  readonly processes: Pick<Processes, 'start'>;
  readonly timers: Timers;
  /** Of the relay. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly limits?: Pick<AttachedLimits, 'runnersMs' | 'errorChars'>;
}

export function createRunners({
  processes,
  timers,
  env,
  limits = ATTACHED_LIMITS,
}: RunnersDeps): () => Promise<Runner[]> {
  const given = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value !== undefined && SET_BY.test(name) ? [[name, value]] : [])),
  );

  /** What it prints; empty: it is not there, failed, or took too long. */
  async function printedBy([command, ...args]: readonly [string, ...string[]]): Promise<string> {
    try {
      const { child, signal } = await processes.start({ command, args, env: { ...getDefaultEnvironment(), ...given } });
      const cancel = timers.after(limits.runnersMs, () => signal('SIGKILL'));
      let text = '';
      child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
        text = (text + piece).slice(0, limits.errorChars);
      });
      child.stderr?.resume();
      child.stdin?.end();
      await new Promise((ended) => child.once('close', ended));
      cancel();
      return text.trim();
    } catch {
      // There is no such program here: then nothing is known of where it fetches from.
      return '';
    }
  }
  const printed = new Map<string, Promise<string>>();
  const once = (ask: readonly [string, ...string[]]) => {
    const key = ask.join(' ');
    const before = printed.get(key) ?? printedBy(ask);
    printed.set(key, before);
    return before;
  };

  async function runnerOf(command: Runner['command']): Promise<Runner> {
    const { ask, name } = ASKS[command];
    const address = await once(ask);
    const url = URL.canParse(address) ? new URL(address) : null;
    const isOpen = url !== null && ['http:', 'https:'].includes(url.protocol);
    const file = programAt(command, env['PATH']);
    const real = file === null ? null : await realpath(file).catch(() => null);
    const isSystems = (path: string) => /^\/(?:usr|bin|lib)\//.test(path);
    return {
      command,
      hosts: isOpen ? [url.host] : [],
      reads: [
        ...new Set([file, real].flatMap((path) => (path === null || isSystems(path) ? [] : [dirname(dirname(path))]))),
      ],
      // One with a password in it is not handed on.
      env: isOpen && url.username === '' && url.password === '' ? { [name]: url.href } : {},
    };
  }
  const all = keepLoaded(async () => await Promise.all(RUNNERS.map(runnerOf)));
  return () => all.get();
}
