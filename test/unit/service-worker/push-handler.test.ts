import { expect, test } from 'vitest';
import { createPushHandler, type PushHandlerDeps } from '../../../src/service-worker/push-handler.ts';

const window = { focus: () => Promise.resolve() } as const;
/** As a page in another language leaves them. */
const TEXTS = {
  ...{ approval: '{name} fragt', failure: '{name} kann nicht', mention: 'Post von {name}', answer: '{name} sagt' },
  ...{ night: 'In der Nacht', review: '{name} ist fertig', over: 'Erledigt', unread: 'Etwas wartet' },
};

function worker(more: Partial<PushHandlerDeps> = {}) {
  const shown: { title: string; tag: string | undefined; data: { path: string; over: boolean } }[] = [];
  const went: string[] = [];
  const put: [string, unknown][] = [];
  const badges: number[] = [];
  let time = 0;
  const told = createPushHandler({
    registration: {
      showNotification(title, options) {
        const next = { title, tag: options?.tag, data: options?.data as { path: string; over: boolean } };
        const at = shown.findIndex(({ tag }) => tag === next.tag);
        shown.splice(at < 0 ? shown.length : at, at < 0 ? 0 : 1, next);
        return Promise.resolve();
      },
      getNotifications: () =>
        Promise.resolve(
          shown.map(
            (each) => ({ ...each, close: () => void shown.splice(shown.indexOf(each), 1) }) as unknown as Notification,
          ),
        ),
      pushManager: { subscribe: () => Promise.reject(new Error('not asked')) },
    },
    windows: () => Promise.resolve([]),
    openWindow: (path) => Promise.resolve(went.push(path)),
    kept: () =>
      Promise.resolve({
        ...{ path: '/there', headers: { key: 'k' }, choice: { kinds: ['approval'], subscription: 'old' } },
        texts: TEXTS,
      }),
    keep: () => Promise.resolve(),
    fetch: (path, init) => {
      put.push([String(path), JSON.parse(String(init?.body))]);
      return Promise.resolve(new Response());
    },
    waits: () => Promise.resolve({ count: 2, at: 3 }),
    badge: (count) => Promise.resolve(void badges.push(count)),
    now: () => ++time,
    ...more,
  });
  return { told, shown, went, put, badges };
}
const push = (key: string, over = false, path = '/inbox', kind = 'approval') =>
  JSON.stringify({ key, kind, title: `About ${key}`, name: null, path, over });

test('shows a notification for every push, one per subject, and replaces ended ones', async () => {
  const { told, shown } = worker();
  for (const text of [
    null,
    'no JSON',
    '{}',
    push('x', false, 'https://elsewhere.test/'),
    push('x', false, '//elsewhere.test'),
  ])
    await told.pushed(text);
  expect(shown).toEqual([
    { title: 'Etwas wartet', tag: 'unread', data: { path: '/', over: false, waits: true, at: 5 } },
  ]);
  await told.pushed(push('a'));
  await told.pushed(push('a'));
  await told.pushed(push('a', true));
  expect(shown.map(({ title, tag }) => [title, tag])).toEqual([
    ['Etwas wartet', 'unread'],
    ['Erledigt', 'a'],
  ]);
});

test("shows a notification in the page's language, and in English without one", async () => {
  const about = { kind: 'approval', title: 'Lyra waits for your answer', path: '/inbox', over: false };
  const came = [
    { ...about, key: 'a', name: 'Lyra' },
    // What has no name is not made one.
    { ...about, key: 'b', name: null },
    { ...about, key: 'c', name: '$& Lyra' },
    { ...about, key: 'd', kind: 'gossip', name: 'Lyra' },
    { ...about, key: 'e', kind: 'night', name: null },
  ];
  const { told, shown } = worker();
  for (const each of came) await told.pushed(JSON.stringify(each));
  expect(shown.map(({ title }) => title)).toEqual([
    'Lyra fragt',
    'Lyra waits for your answer',
    '$& Lyra fragt',
    'Lyra waits for your answer',
    'In der Nacht',
  ]);
  for (const kept of [() => Promise.resolve(null), () => Promise.reject(new Error('no caches'))]) {
    const bare = worker({ kept });
    await bare.told.pushed(JSON.stringify(came[0]));
    await bare.told.pushed(JSON.stringify({ ...came[0], over: true }));
    expect(bare.shown.map(({ title }) => title)).toEqual(['Done on another device']);
  }
});

test('the icon of a closed page goes on counting from what waited when it was open; an open one counts by itself', async () => {
  const { told, badges } = worker();
  // The first three came while a page was open, which has counted them.
  for (const key of ['a', 'b', 'c', 'd', 'd']) await told.pushed(push(key));
  await told.pushed(push('c', true));
  expect(badges).toEqual([2, 2, 2, 3, 3, 2 + 1]);
  // As in the inbox of the page, an answer is unread and waits for nobody.
  await told.pushed(push('e', false, '/lead', 'answer'));
  expect(badges.at(-1)).toBe(3);
  const open = worker({
    windows: () => Promise.resolve([{ ...window, postMessage: () => undefined }]),
  });
  await open.told.pushed(push('a'));
  expect(open.badges).toEqual([]);
});

test('a click leads to the very place: in the page that is open, else in a new one', async () => {
  const said: unknown[] = [];
  const closed = worker();
  await closed.told.clicked({ path: '/inbox' });
  await closed.told.clicked({ path: '//elsewhere.test' });
  expect(closed.went).toEqual(['/inbox', '/']);
  const open = worker({
    windows: () => Promise.resolve([{ ...window, postMessage: (message) => void said.push(message) }]),
  });
  await open.told.clicked({ path: '/lead' });
  expect([open.went, said]).toEqual([[], [{ roostGo: '/lead' }]]);
});

test('renews at the relay a subscription that the browser has ended, with its settings', async () => {
  const { told, put } = worker();
  const next = {
    toJSON: () => ({ endpoint: 'https://push.test/2', keys: { p256dh: 'p', auth: 'a' }, expirationTime: null }),
  };
  await told.renewed(null, next as unknown as PushSubscription);
  expect(put).toEqual([
    [
      '/there',
      { kinds: ['approval'], subscription: { endpoint: 'https://push.test/2', keys: { p256dh: 'p', auth: 'a' } } },
    ],
  ]);
});
