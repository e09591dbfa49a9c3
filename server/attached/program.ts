/**
 * A program that speaks MCP over its input and output, in a process group of its own: what it has started ends with it. It
 * is given the few variables that programs need to be found and to keep their caches, and those that the person has set for
 * it; none of the relay's. What it writes is bounded, in one message and in time.
 */
import type { ChildProcess } from 'node:child_process';
import { ReadBuffer, serializeMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import type { Processes } from '../processes/index.ts';
import type { AttachedLimits } from './settings.ts';

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
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
  { command, args, env }: Program,
  processes: Pick<Processes, 'start'>,
  limits: Limits,
): ProgramTransport {
  const incoming = new ReadBuffer({ maxBufferSize: limits.messageBytes });
  let child: ChildProcess | null = null;
  let closing: Promise<void> | null = null;
  let errors = '';
  let window = { since: 0, messages: 0, bytes: 0 };

  function signal(name: NodeJS.Signals): void {
    try {
      if (child?.pid !== undefined) process.kill(-child.pid, name);
    } catch {
      // The whole group has ended by itself.
    }
  }

  /** Of what came last; throws where it is more than anybody needs. */
  function count(messages: number, bytes: number): void {
    const now = performance.now();
    if (now - window.since > limits.windowMs) window = { since: now, messages: 0, bytes: 0 };
    window.messages += messages;
    window.bytes += bytes;
    if (window.messages > limits.windowMessages || window.bytes > limits.windowBytes)
      throw new Error('it writes more than anybody could read');
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
      const started = await processes.start({ command, args, env: { ...getDefaultEnvironment(), ...env } });
      child = started.child;
      child.once('error', (error) => transport.onerror?.(error));
      child.once('close', () => transport.onclose?.());
      child.stdout?.on('data', take);
      child.stdout?.on('error', fail);
      child.stdin?.on('error', fail);
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        errors = (errors + text).slice(-limits.errorChars);
      });
    },
    send: (message) =>
      new Promise((sent, failed) => {
        const input = child?.stdin;
        if (!input?.writable) return failed(new Error('it has ended'));
        // A program that does not read holds up nobody but who waits for its answer.
        input.write(serializeMessage(message), (error) => (error ? failed(error) : sent()));
      }),
    close() {
      closing ??= new Promise((closed) => {
        const ending = child;
        if (!ending || ending.exitCode !== null || ending.signalCode !== null || ending.pid === undefined) {
          signal('SIGKILL');
          return closed();
        }
        const kill = setTimeout(() => signal('SIGKILL'), limits.endMs);
        ending.once('exit', () => {
          clearTimeout(kill);
          // What it left behind in its group ends with it.
          signal('SIGKILL');
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
