/** Notices of the relay in one conversation. The person sees each of them once. */
import { sentence } from '../../../src/shared/domain/names.ts';
import type { AnswerDeps } from './answer.ts';
import type { RunContext } from './context.ts';
import type { Life } from './life.ts';
import { messageEvent } from './message-event.ts';

const SHORTENED = sentence`This conversation is too long for the model. The model now gets only the newest part. The page still has all of it.`;
const unsummarised = (why: string) =>
  sentence`This conversation is too long for the model. The model now gets only the newest part. The page still has all of it. Roost could not summarise it: ${why}`;

const RESULTS_LEFT_OUT = sentence`The model’s server refused what a tool returned. It was left out, and everything else was read.`;

export interface Notices {
  /** The older part of the conversation is cut off. `why`: it could not be summarised. */
  shortened(why: string | null): void;
  leftOut: AnswerDeps['onLeftOut'];
  resultsLeftOut(): void;
  /** The model cannot use tools. */
  toolless(model: string): void;
  /** The server of this model read fewer tokens than were sent. */
  readLess(model: string, read: number, sent: number): void;
}

export function createNotices(
  { record, now, newId, sessionId }: Pick<RunContext, 'record' | 'now' | 'newId' | 'sessionId'>,
  { agentId, runId }: Pick<Life, 'agentId' | 'runId'>,
): Notices {
  const announced = new Set<string>();
  /** Shows a notice in the conversation, once for each `what`. */
  function say(what: string, text: string): void {
    if (announced.has(what)) return;
    announced.add(what);
    void record([messageEvent({ time: now(), messageId: newId(), sessionId, runId, agentId, author: 'relay', text })]);
  }
  return {
    shortened(why) {
      if (why === null) say('shortened', SHORTENED);
      else say(`shortened ${why}`, unsummarised(why));
    },
    leftOut(files) {
      for (const { digest, name } of files)
        say(
          digest,
          name === null
            ? sentence`The model’s server could not read a picture that a tool showed. It was left out, and everything else was read.`
            : sentence`The model’s server could not read “${name}”. It was left out, and everything else was read.`,
        );
    },
    resultsLeftOut: () => say('results-left-out', RESULTS_LEFT_OUT),
    toolless: (model) =>
      say(
        `toolless ${model}`,
        sentence`The model “${model}” cannot use tools, or its context is too small for them. This agent can only talk. Choose another model in the settings to let it act.`,
      ),
    readLess(model, read, sent) {
      const shown = (tokens: number) => tokens.toLocaleString('en');
      say(
        'read-less',
        sentence`The server of the model “${model}” read only ${shown(read)} of about ${shown(sent)} tokens. Give it a larger context where it runs. For Ollama, start it with OLLAMA_CONTEXT_LENGTH=32768, or set num_ctx in the Modelfile. Until then Roost cuts conversations with this model to what it reads.`,
      );
    },
  };
}
