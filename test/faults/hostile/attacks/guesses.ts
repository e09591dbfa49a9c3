/** Secrets that are guessed, and names of models that lead elsewhere, by a credential. */
import type { Attack } from '../attack.ts';

const GUESSES = 20;

export const guesses: Attack = {
  name: 'guesses',
  async run({ target, int, of, bare, found }) {
    for (let left = int(5, GUESSES); left > 0; left--) {
      const secret = `roost_${String(int(0, 1e9)).padStart(43, 'x')}`;
      const authorization = { authorization: `Bearer ${secret}` };
      const answer = await of([
        () => bare('GET', '/v1/config', { headers: authorization }),
        () => bare('POST', '/mcp', { json: {}, headers: authorization }),
        () => bare('GET', `/llm/${secret}/v1/models`),
        () => bare('POST', `/hooks/${secret}`, { json: { title: 'In' } }),
        () => bare('GET', `/enter?code=${secret}`),
      ])();
      if (answer !== null && answer.status < 400) found(`a guessed secret was answered ${answer.status}`);
    }
    const model = of(['rehearsal', 'rehearsal/../../models/x', '..', '../files?x=1#', 'a\r\nb']);
    const json = { model, max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }] };
    const asked = await bare('POST', `/llm/${target.credential}/v1/messages`, { json });
    if (asked !== null && asked.status < 400) found(`the model ${JSON.stringify(model)} was asked`);
  },
};
