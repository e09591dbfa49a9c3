import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { mcpNameSchema } from '../../../../src/shared/protocol/mcp.ts';
import { mcpNameOf, filledIn, readMcpServers } from '../../../../src/shared/protocol/mcp-settings.ts';

describe('settings of another client', () => {
  it("reads addresses and programs of another client's settings under valid names", () => {
    const text = JSON.stringify({
      mcpServers: {
        'File System': { command: 'npx', args: ['-y', 'server', '/home/me'], env: { KEY: 'k' } },
        far: { type: 'http', url: 'https://mcp.example.org/mcp', headers: { Authorization: 'Bearer t' } },
      },
    });
    expect(readMcpServers(text)).toEqual({
      ok: true,
      asked: [],
      notes: [],
      servers: [
        {
          name: 'file-system',
          attachment: {
            ...{ kind: 'program', command: 'npx', args: ['-y', 'server', '/home/me'], env: { KEY: 'k' } },
            box: { folder: null, reads: [], network: 'none' },
          },
        },
        {
          name: 'far',
          attachment: { kind: 'address', url: 'https://mcp.example.org/mcp', headers: { Authorization: 'Bearer t' } },
        },
      ],
    });
    expect(readMcpServers('{"a":{"command":"x"}}')).toMatchObject({ ok: true, servers: [{ name: 'a' }] });
    expect(readMcpServers('{"servers":{"a":{"url":"http://x/"}}}')).toMatchObject({ ok: true });
  });

  it.each([
    ['', /not valid JSON/],
    ['{"mcpServers": ', /not valid JSON/],
    ['[]', /no servers/],
    ['{}', /no servers/],
    ['{"mcpServers":{}}', /no servers/],
    ['{"mcpServers":{"a":{}}}', /“a” has neither/],
    ['{"mcpServers":{"a":{"url":"file:///etc/passwd"}}}', /“a” has neither/],
    ['{"mcpServers":{"a":{"command":""}}}', /“a” has neither/],
  ])("refuses another client's settings with a reason: %s", (text, reason) => {
    const read = readMcpServers(text);
    expect(read.ok ? '' : read.reason).toMatch(reason);
  });

  const PROGRAM = { kind: 'program', command: 'npx', args: ['-y', 'x'], env: { KEY: 'k' } };
  const ADDRESS = { kind: 'address', url: 'https://a.example/mcp', headers: {} };
  it.each<[string, string, object]>([
    [
      'with comments, a trailing comma and a mark at the beginning',
      '\uFEFF{ // mine\n "mcpServers": { /* one */ "a": { "url": "https://a.example/mcp", }, }, }',
      ADDRESS,
    ],
    [
      'of which the outer brackets were not copied',
      '"mcpServers": { "a": { "url": "https://a.example/mcp" } },',
      ADDRESS,
    ],
    ['of VS Code', '{"servers":{"a":{"type":"sse","url":"https://a.example/mcp"}},"inputs":[]}', ADDRESS],
    [
      'of VS Code, among others',
      '{"mcp":{"servers":{"a":{"command":"npx","args":["-y","x"],"env":{"KEY":"k"}}},"inputs":[]}}',
      PROGRAM,
    ],
    ['of Windsurf', '{"mcpServers":{"a":{"serverUrl":"https://a.example/mcp"}}}', ADDRESS],
    ['of Gemini CLI', '{"mcpServers":{"a":{"httpUrl":"https://a.example/mcp","timeout":5000}},"theme":"x"}', ADDRESS],
    [
      'of Zed',
      '{"context_servers":{"a":{"source":"custom","command":"npx","args":["-y","x"],"env":{"KEY":"k"}}}}',
      PROGRAM,
    ],
    [
      'of an older Zed',
      '{"context_servers":{"a":{"command":{"path":"npx","args":["-y","x"],"env":{"KEY":"k"}},"settings":{}}}}',
      PROGRAM,
    ],
    [
      'of opencode',
      '{"mcp":{"a":{"type":"local","command":["npx","-y","x"],"environment":{"KEY":"k"},"enabled":true}}}',
      PROGRAM,
    ],
    [
      'of opencode, elsewhere',
      '{"$schema":"x","mcp":{"a":{"type":"remote","url":"https://a.example/mcp","enabled":true}}}',
      ADDRESS,
    ],
    ['of Windows', '{"mcpServers":{"a":{"command":"cmd","args":["/c","npx","-y","x"],"env":{"KEY":"k"}}}}', PROGRAM],
    [
      'with numbers and nulls',
      '{"mcpServers":{"a":{"command":"npx","args":["-y","x"],"env":{"KEY":"k","NONE":null},"url":null,"headers":null}}}',
      PROGRAM,
    ],
    ['in a list', '{"mcpServers":[{"name":"a","url":"https://a.example/mcp"}]}', ADDRESS],
  ])("reads another client's settings %s", (_how, text, attachment) => {
    expect(readMcpServers(text)).toMatchObject({
      ok: true,
      servers: [{ name: 'a', attachment }],
      asked: [],
      notes: [],
    });
  });

  it('reads two of three servers when one is unusable, and reports that one', () => {
    const text = '{"mcpServers":{"a":{"url":"https://a.example/"},"b":{"url":7},"c":{"command":"x"}}}';
    expect(readMcpServers(text)).toMatchObject({
      servers: [{ name: 'a' }, { name: 'c' }],
      notes: [expect.stringMatching(/^“b” has neither/)],
    });
    const twice = readMcpServers('{"mcpServers":{"a b":{"command":"x"},"A-B":{"command":"y"}}}');
    expect(twice).toMatchObject({ servers: [{ name: 'a-b' }], notes: [expect.stringMatching(/“A-B”.*same name/)] });
  });

  it('leave out what is switched off there, and name what is not done here', () => {
    const off = '{"mcpServers":{"a":{"url":"https://a.example/","disabled":true},"b":{"command":"x","enabled":false}}}';
    expect(readMcpServers(off)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('“a” is switched off there'),
    });
    expect(readMcpServers('{"servers":{"a":{"command":"x","envFile":"/home/me/.env","cwd":"/srv"}}}')).toMatchObject({
      ok: true,
      notes: [expect.stringContaining('/home/me/.env'), expect.stringContaining('/srv')],
    });
  });

  it('ask for whatever the other client would have filled in, and never keep it as it is written', () => {
    const text = JSON.stringify({
      inputs: [{ id: 'token', type: 'promptString', description: 'Token of A', password: true }],
      servers: {
        a: {
          command: 'npx',
          args: ['--at', '${HOST:-example.org}', '${workspaceFolder}/notes', '${input:token}'],
          env: { KEY: '${env:KEY}', OTHER: '{env:OTHER}', BARE: '$BARE', PRICE: '5$' },
        },
        b: { url: 'https://${HOST:-example.org}/mcp', headers: { Authorization: 'Bearer ${input:token}' } },
        c: { url: '${URL}' },
      },
    });
    const read = readMcpServers(text);
    if (!read.ok) throw new Error(read.reason);
    expect(read.asked).toEqual([
      { written: '${HOST:-example.org}', label: 'HOST', initial: 'example.org', secret: false },
      { written: '${workspaceFolder}', label: 'workspaceFolder', initial: '', secret: false },
      { written: '${input:token}', label: 'Token of A', initial: '', secret: true },
      { written: '${env:KEY}', label: 'KEY', initial: '', secret: true },
      { written: '{env:OTHER}', label: 'OTHER', initial: '', secret: true },
      { written: '$BARE', label: 'BARE', initial: '', secret: true },
      { written: '${URL}', label: 'URL', initial: '', secret: false },
    ]);
    const values = Object.fromEntries(read.asked.map(({ written, label }) => [written, `https://${label}/`]));
    const filled = filledIn(read.servers, values);
    expect(JSON.stringify(filled)).not.toMatch(/\$\{|\{env:/);
    expect(filled.map(({ attachment }) => attachment)).toMatchObject([
      {
        args: ['--at', 'https://HOST/', 'https://workspaceFolder//notes', 'https://Token of A/'],
        env: { BARE: 'https://BARE/', PRICE: '5$' },
      },
      { headers: { Authorization: 'Bearer https://Token of A/' } },
      { url: 'https://URL/' },
    ]);
  });

  it('never break on what is pasted, and every name fits', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (name) => mcpNameSchema.safeParse(mcpNameOf(name)).success));
    fc.assert(fc.property(fc.json(), (text) => typeof readMcpServers(text).ok === 'boolean'));
  });
});
