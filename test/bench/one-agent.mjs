/**
 * The peer: one agent as a process of its own, in its leanest form. It loads the same SDK and makes
 * one request. Arguments: the server, the prompt.
 */
import Anthropic from '@anthropic-ai/sdk';

const [baseURL, prompt] = process.argv.slice(2);
const client = new Anthropic({ apiKey: 'none', authToken: null, baseURL, maxRetries: 0 });
const stream = client.messages.stream({
  model: 'agent',
  max_tokens: 1024,
  system: 'You are one of a small team of agents; you sit in seat 1.',
  messages: [{ role: 'user', content: prompt }],
});
await stream.finalMessage();
