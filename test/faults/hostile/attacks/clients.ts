/**
 * A program with a credential: MCP and the model proxy, said wrongly in every way, and what belongs
 * to others.
 */
import type { Attack } from '../attack.ts';

const METHODS = ['initialize', 'tools/list', 'tools/call', 'resources/read', 'ping', 'logging/setLevel', 'nothing', ''];

export const clients: Attack = {
  name: 'clients',
  async run({ target, of, int, bare }) {
    const bearer = { authorization: `Bearer ${of([target.credential, target.credential, 'x', ''])}` };
    for (let left = int(3, 12); left > 0; left--) {
      const params = of<unknown>([
        {},
        {
          name: of(['read_inbox', 'message_agent', 'nothing']),
          arguments: { to: of(target.ids), text: 'x'.repeat(int(0, 50_000)) },
        },
        {
          protocolVersion: of(['2025-06-18', '1', '']),
          capabilities: {},
          clientInfo: { name: 'n'.repeat(int(0, 5_000)), version: '1' },
        },
        null,
        [[[[]]]],
      ]);
      const message = { jsonrpc: of(['2.0', '1.0']), id: of([1, 'x', null, {}]), method: of(METHODS), params };
      await bare('POST', '/mcp', {
        json: of<unknown>([message, [message, message], {}, []]),
        headers: { ...bearer, accept: 'application/json, text/event-stream', 'mcp-session-id': of(target.ids) },
      });
      await bare('POST', `/llm/${of([target.credential, 'x'])}/v1/messages`, {
        json: of<unknown>([
          { model: 'scripted', max_tokens: of([1, -1, 1e12]), messages: [{ role: 'user', content: 'Hm.' }] },
          { model: 'scripted', max_tokens: 1, messages: 'x', tools: [{ type: 'web_search', max_uses: -1e9 }] },
          [],
        ]),
      });
    }
  },
};
