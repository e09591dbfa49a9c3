import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { attachedNameSchema } from '../../../src/protocol/attached.ts';
import { attachedNameOf, readMcpServers } from '../../../src/protocol/mcp-servers.ts';

describe('settings of another client', () => {
  it('are read as addresses and programs, under names that fit', () => {
    const text = JSON.stringify({
      mcpServers: {
        'File System': { command: 'npx', args: ['-y', 'server', '/home/me'], env: { KEY: 'k' } },
        far: { type: 'http', url: 'https://mcp.example.org/mcp', headers: { Authorization: 'Bearer t' } },
      },
    });
    expect(readMcpServers(text)).toEqual({
      ok: true,
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
    ['', /no JSON/],
    ['{"mcpServers": ', /no JSON/],
    ['[]', /no servers/],
    ['{}', /no servers/],
    ['{"mcpServers":{}}', /no servers/],
    ['{"mcpServers":{"a":{}}}', /“a” has neither/],
    ['{"mcpServers":{"a":{"url":"file:///etc/passwd"}}}', /“a” has neither/],
    ['{"mcpServers":{"a":{"command":""}}}', /“a” has neither/],
    ['{"mcpServers":{"a b":{"command":"x"},"A-B":{"command":"y"}}}', /same name/],
  ])('are refused with a reason: %s', (text, reason) => {
    const read = readMcpServers(text);
    expect(read.ok ? '' : read.reason).toMatch(reason);
  });

  it('never break on what is pasted, and every name fits', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        (name) => attachedNameSchema.safeParse(attachedNameOf(name)).success,
      ),
    );
    fc.assert(fc.property(fc.json(), (text) => typeof readMcpServers(text).ok === 'boolean'));
  });
});
