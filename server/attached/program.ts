/**
 * A program that speaks MCP over its input and output, in a process group of its own: what it has started ends with it. It
 * is given the few variables that programs need to be found and to keep their caches, and those that the person has set for
 * it; none of the relay's. What it writes is bounded, in one message and in time.
 */
import { ReadBuffer, serializeMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import type { Box } from '../../src/protocol/attached.ts';
import { createFlood, FLOODED, type Group, type Processes, type ProgramStart } from '../processes/index.ts';
import type { AttachedLimits } from './settings.ts';

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** How it is held in the sandbox; null: it runs free. */
  readonly box: Box | null;
}

/** Where programs are begun: free, and in the sandbox. */
export interface Starts {
  readonly processes: Pick<Processes, 'start'>;
  readonly sandbox: { start(program: ProgramStart & Box): Promise<Group> };
}

export interface ProgramTransport extends Transport {
  /** The end of what it wrote to its errors. */
  said(): string;
}

type Limits = Pick<
  AttachedLimits,
  'messageBytes' | 'windowMs' | 'windowMessages' | 'windowBytes' | 'endMs' | 'errorChars'
>;

export function createProgramTransport(
  { command, args, env, box }: Program,
  { processes, sandbox }: Starts,
  limits: Limits,
): ProgramTransport {
  const incoming = new ReadBuffer({ maxBufferSize: limits.messageBytes });
  let group: Group | null = null;
  let closing: Promise<void> | null = null;
  let errors = '';
  const isFlooded = createFlood(limits);

  /** Of what came last; throws where it is more than anybody needs. */
  function count(messages: number, bytes: number): void {
    if (isFlooded(messages, bytes)) throw new Error(FLOODED);
  }

  function fail(error: unknown): void {
    transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
    void transport.close();
  }

  function take(chunk: Buffer): void {
    try {
      count(0, chunk.length);
      incoming.append(chunk);
    } catch (error) {
      return fail(error);
    }
    for (;;) {
      let message: JSONRPCMessage | null;
      try {
        message = incoming.readMessage();
        if (message === null) return;
        count(1, 0);
      } catch (error) {
        return fail(error);
      }
      transport.onmessage?.(message);
    }
  }

  const transport: ProgramTransport = {
    said: () => errors.trim(),
    async start() {
      const program = { command, args, env: { ...getDefaultEnvironment(), ...env } };
      group = await (box ? sandbox.start({ ...program, ...box }) : processes.start(program));
      const { child } = group;
      child.once('error', (error) => transport.onerror?.(error));
      child.once('close', () => transport.onclose?.());
      child.stdout?.on('data', take);
      child.stdout?.on('error', fail);
      child.stdin?.on('error', fail);
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        // Twice as much as is told: what must not be is looked for in the whole of it.
        errors = (errors + text).slice(-2 * limits.errorChars);
      });
    },
    send: (message) => group?.write(serializeMessage(message)) ?? Promise.reject(new Error('it has ended')),
    close() {
      closing ??= new Promise((closed) => {
        // Where it has ended, the rest of its group was ended with it.
        if (!group || group.child.exitCode !== null || group.child.signalCode !== null) return closed();
        const { child: ending, signal } = group;
        const kill = setTimeout(() => signal('SIGKILL'), limits.endMs);
        ending.once('exit', () => {
          clearTimeout(kill);
          ending.stdout?.destroy();
          ending.stderr?.destroy();
          closed();
        });
        ending.stdin?.end();
        signal('SIGTERM');
      });
      return closing;
    },
  };
  return transport;
}
