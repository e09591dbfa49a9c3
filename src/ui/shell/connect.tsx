import { useInfo, useRoost } from '../context.tsx';
import { copyText } from '../parts/copy.ts';
import { CopyIcon } from '../parts/icons.tsx';
import './connect.css';

const CLAUDE = 'ANTHROPIC_API_KEY=sk-ant-… npm start';
const LOCAL =
  'ANTHROPIC_BASE_URL=http://127.0.0.1:11434 \\\n  ROOST_LEAD_MODEL=qwen3 ROOST_AGENT_MODEL=qwen3 npm start';

function Command({ text }: { text: string }) {
  const state = useRoost();
  return (
    <div className="command">
      <pre>{text}</pre>
      <button
        type="button"
        className="icon-button"
        aria-label="Copy command"
        title="Copy"
        onClick={() => void copyText(state, text.replace('\\\n  ', ''), 'Command')}
      >
        <CopyIcon />
      </button>
    </div>
  );
}

/** How a model is connected, in steps. */
export function ConnectSteps() {
  const health = useInfo((state) => state.health);
  return (
    <div className="connect">
      <p>
        {health?.mind === 'anthropic'
          ? `A model is connected: ${health.model}.`
          : 'A rehearsal mind answers now: a small stand-in that plays its part, so that everything can be tried without a key. Nobody is thinking. What it writes is kept like everything else.'}
      </p>
      <h3>Claude</h3>
      <ol>
        <li>
          Make a key at{' '}
          <a href="https://console.anthropic.com/settings/keys" target="_blank" rel="noopener noreferrer nofollow">
            console.anthropic.com
          </a>
          .
        </li>
        <li>Stop the relay (Ctrl+C in its terminal), and start it with the key:</li>
      </ol>
      <Command text={CLAUDE} />
      <h3>A model on your own machine</h3>
      <p>
        Any server that speaks Anthropic’s Messages API: Ollama, llama.cpp, LM Studio, LiteLLM, vLLM. Say where it is
        and which models to use:
      </p>
      <Command text={LOCAL} />
      <p className="connect-note">
        The key stays in the relay. It is never sent to this page, written into a document or into a log. Your agents
        keep their names, souls and conversations whichever model thinks.
      </p>
    </div>
  );
}
