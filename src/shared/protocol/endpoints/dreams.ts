/** Dreams of agents. */
import { dreamSchema, dreamsSchema, startDreamSchema } from '../dreams.ts';
import { endpoint, idText, named, optional } from './endpoint.ts';

const dream = {
  dreamId: named(idText, 'the dream’s id', { type: 'no-dream', detail: 'There is no such dream.' }),
};
const answered = {
  status: 409,
  when: '`dream-over`: the dream proposes nothing any more, or not yet; `changed-elsewhere`: the memory has changed since in a way that does not fit',
} as const;

export const dreamEndpoints = {
  dreams: endpoint({
    method: 'GET',
    path: '/api/dreams',
    does: 'Lists the newest dreams of an agent, or all dreams that wait for the person.',
    query: {
      agentId: optional(idText.describe('the agent’s id, name or seat; left out: those that wait, of all agents')),
    },
    answers: [
      { status: 200, when: 'found', body: dreamsSchema },
      { status: 404, when: '`unknown-agent`: there is no such agent' },
    ],
  }),
  startDream: endpoint({
    method: 'POST',
    path: '/api/dreams',
    does: 'Has an agent dream now. The answer does not wait for the dream.',
    body: startDreamSchema,
    answers: [
      { status: 201, when: 'it is due', body: dreamSchema },
      { status: 404, when: '`unknown-agent`: there is no such agent' },
      { status: 409, when: '`dream-waits`: a dream of the agent is under way, or waits for the person' },
    ],
  }),
  adoptDream: endpoint({
    method: 'POST',
    path: '/api/dreams/{dreamId}/adopt',
    does: 'Makes what the dream proposes the agent’s memory.',
    params: dream,
    answers: [
      { status: 200, when: 'adopted', body: dreamSchema },
      { status: 404, when: '`no-dream`: there is no such dream' },
      answered,
      { status: 413, when: '`memory-full`: the memory would have more than it may' },
    ],
  }),
  cancelDream: endpoint({
    method: 'POST',
    path: '/api/dreams/{dreamId}/cancel',
    does: 'Cancels a dream that is left with a model server. The server may have answered it already, and then it costs what it used.',
    params: dream,
    answers: [
      { status: 200, when: 'the server is asked', body: dreamSchema },
      { status: 404, when: '`no-dream`: there is no such dream' },
      { status: 409, when: '`dream-over`: it is not left with a model server' },
    ],
  }),
  discardDream: endpoint({
    method: 'POST',
    path: '/api/dreams/{dreamId}/discard',
    does: 'Discards what the dream proposes. The memory stays as it is.',
    params: dream,
    answers: [
      { status: 200, when: 'discarded', body: dreamSchema },
      { status: 404, when: '`no-dream`: there is no such dream' },
      answered,
    ],
  }),
};
