import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type ConnectionEnds, createCalls, createRpcClient } from '../../../../src/shared/rpc/client.ts';
import { answersOf, method, proxyOf, typed, type FromServer } from '../../../../src/shared/rpc/method.ts';
import { createRpcServer } from '../../../../src/shared/rpc/server.ts';

const METHODS = {
  add: method(z.tuple([z.number(), z.number()]), z.number()),
  refuse: method(z.tuple([z.string()]), typed<never>()),
};
type Told = { readonly news: 'welcome' } | { readonly news: 'lost' };

/** A page and a worker, each with its own copy of what the other says. */
function connected() {
  const server = createRpcServer<typeof METHODS, Told>({
    methods: METHODS,
    welcome: () => ({ news: 'welcome' }),
    onError: () => undefined,
    answers: answersOf(METHODS, () =>
      Promise.resolve({
        add: (a: number, b: number) => Promise.resolve(a + b),
        refuse: (why: string) => Promise.reject(Object.assign(new Error(why), { name: 'Refusal' })),
      }),
    ),
  });
  let ids = 0;
  return createRpcClient<typeof METHODS, Told>({
    open(ends: ConnectionEnds<Told>) {
      let take: (message: unknown) => void = () => undefined;
      const line = server.connect((message: FromServer<Told>) =>
        queueMicrotask(() => ends.take(structuredClone(message))),
      );
      take = line.take;
      return { send: (message) => queueMicrotask(() => take(structuredClone(message))), close: line.leave };
    },
    newId: () => String(++ids),
    after: () => () => undefined,
    isWelcome: ({ news }) => news === 'welcome',
    unanswered: () => ({ news: 'lost' }),
    times: { silence: 1, renew: 1, reopen: 1 },
  });
}

describe('calls from one table of methods', () => {
  it('delivers calls to a part that opens later, each under its own name', async () => {
    expect(await connected().call('add', 2, 3)).toBe(5);
  });

  it('rejects with the name and message of the error', async () => {
    await expect(connected().call('refuse', 'No room.')).rejects.toMatchObject({
      name: 'Refusal',
      message: 'No room.',
    });
  });

  it('parses calls before they are answered, and types them before they are made', async () => {
    // @ts-expect-error: a text is no number
    await expect(connected().call('add', 2, 'three')).rejects.toMatchObject({ name: 'ProtocolError' });
    // @ts-expect-error: there is no such method
    await expect(connected().call('burn')).rejects.toMatchObject({ name: 'ProtocolError' });
  });

  it('calls functions of a proxy over a line that stays closed, and tells errors apart by kind', async () => {
    const server = createRpcServer<typeof METHODS>({
      methods: METHODS,
      onError: () => undefined,
      answers: {
        add: (a, b) => Promise.resolve(a + b),
        refuse: (why) => Promise.reject(Object.assign(new Error(why), { name: 'Refusal', kind: 'full' })),
      },
    });
    const line = server.connect((message) => {
      if ('reply' in message) calls.take(message);
    });
    let ids = 0;
    const calls = createCalls<typeof METHODS>({ newId: () => String(++ids), send: line.take });
    const far = proxyOf(METHODS, calls.call);
    expect(await Promise.all([far.add(1, 2), far.add(3, 4)])).toEqual([3, 7]);
    await expect(far.refuse('No room.')).rejects.toMatchObject({ name: 'Refusal', kind: 'full', message: 'No room.' });
    expect(calls.count()).toBe(0);
  });
});
