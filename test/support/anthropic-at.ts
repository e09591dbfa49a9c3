/**
 * Sends what this process would send to Anthropic's own address to a model on this machine: so a
 * relay is tried as it speaks to Claude. Returns the way to take that back.
 */
import { OFFICIAL_API } from '../../server/agents/minds/settings.ts';

export function sendAnthropicTo(address: string): () => void {
  const before = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    return before(url.startsWith(OFFICIAL_API) ? `${address}${url.slice(OFFICIAL_API.length)}` : input, init);
  };
  return () => {
    globalThis.fetch = before;
  };
}
