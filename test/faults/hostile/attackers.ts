/**
 * Whoever attacks, in a process of their own: what they do is not to slow down whoever is honest
 * and measured in this one.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Target } from './attack.ts';

const PROGRAM = fileURLToPath(new URL('attacker.ts', import.meta.url));

/** Where the attackers' own models are. */
export interface Begun {
  readonly modelUrl: string;
  readonly oddUrl: string;
}
export interface Orders {
  readonly target: Target;
  readonly seed: number;
  /** Each attack is made once, and for so long whatever chance says. */
  readonly ms: number;
  /** How many attacks go on at once. */
  readonly workers: number;
  /** Names of attacks. Left out: all. */
  readonly only?: readonly string[];
}
export interface Findings {
  readonly found: readonly string[];
  /** How often each attack was made, and how its calls were answered: how many by which status. */
  readonly made: Readonly<
    Record<string, { readonly rounds: number; readonly answers: Readonly<Record<string, number>> }>
  >;
}

export interface Attackers extends Begun {
  readonly pid: number;
  attack(orders: Orders): Promise<Findings>;
  close(): Promise<void>;
}

export async function openAttackers(): Promise<Attackers> {
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), PROGRAM], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'close');
  const said = async <Message>() => {
    const [message] = (await Promise.race([
      once(child, 'message'),
      ended.then(() => {
        throw new Error('The attackers ended by themselves.');
      }),
    ])) as [Message];
    return message;
  };
  const begun = await said<Begun>();
  return {
    ...begun,
    pid: child.pid ?? 0,
    attack(orders) {
      child.send(orders);
      return said<Findings>();
    },
    async close() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
