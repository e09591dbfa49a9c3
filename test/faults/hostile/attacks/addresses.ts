/**
 * Addresses that lead inside, in whatever digits, as models, MCP servers, pages and push services.
 */
import type { Attack } from '../attack.ts';

const HOSTS = [
  '169.254.169.254',
  '[fe80::1]',
  '0.0.0.0',
  '[::]',
  '[::ffff:169.254.169.254]',
  '168.63.129.16',
  '[64:ff9b::a9fe:a9fe]',
  '2852039166',
  '0xa9fea9fe',
];

/** Spellings that one parser reads as public, and another as inside. */
const spelled = (port: number): readonly string[] => [
  `https://1.1.1.1\\@127.0.0.1:${port}/x`,
  `https://1.1.1.1@127.0.0.1:${port}/x`,
  `https://127.0.0.1:${port}/x#@1.1.1.1`,
  `https://1.1.1.1\r\n@127.0.0.1:${port}/x`,
  `https://localhost.:${port}/x`,
  `https://[::ffff:127.0.0.1]:${port}/x`,
];

export const addresses: Attack = {
  name: 'addresses',
  async run({ target, of, int, call, found }) {
    for (let left = int(1, 3); left > 0; left--) {
      const url = `http://${of(HOSTS)}:${of([80, target.port, 1])}/${of(['', 'latest/meta-data', 'mcp'])}`;
      const [method, path, json] = of([
        ['POST', '/api/models', { kind: 'server', address: url, key: 'k' }],
        ['POST', '/api/mcp-servers', { name: `a${int(0, 9)}`, attachment: { kind: 'address', url, headers: {} } }],
        [
          'PUT',
          '/api/notifications/device',
          {
            name: 'Mine',
            kinds: [],
            quiet: null,
            timeZone: 'UTC',
            subscription: { endpoint: url, keys: { p256dh: 'x'.repeat(87), auth: 'y'.repeat(22) } },
          },
        ],
      ] as const);
      const answer = await call(method, path, { json });
      const repository = of(spelled(target.port));
      const made = await call('POST', '/v1/projects', { json: { name: 'Inside', kind: 'git', repository } });
      if (made?.status === 201) found(`a project at ${repository} was created`);
      if (path === '/api/models' && answer?.status === 201) found(`a model at ${url} was connected`);
    }
  },
};
