/** Shows what a wake would give each agent, with its size and cost, before the person pays. */
import { errorText } from '../../state/ports.ts';
import { useEffect, useState } from 'react';
import { displayName, type Agent } from '../../../shared/domain/agent.ts';
import { t } from '../../language/t.ts';
import { payloadOf, type WakeShare } from '../../state/wake-sizes.ts';
import { wakeAround, wakePromptOf } from '../../state/wake-context.ts';
import { arrivingOf } from '../../state/devices.ts';
import { useDevices, useHousehold, useRoost } from '../context.tsx';
import { useSleepers } from '../grid/hearth.tsx';
import { Face } from '../grid/face.tsx';
import { copyText } from '../parts/copyable-text.tsx';
import { Dialog } from '../design/dialog.tsx';
import { ChevronIcon } from '../design/more-icons.tsx';
import { TEMPLATES } from '../protocol-templates.ts';
import { useNow } from '../hooks.ts';
import { bytes, count, plural } from '../text/sizes.ts';
import { money } from '../text/money.ts';
import { useWakeCosts, type WakeCost } from './use-wake-cost.ts';
import './wake-preview.css';

type Read =
  | { readonly kind: 'reading' }
  | { readonly kind: 'failed'; readonly text: string }
  | { readonly kind: 'read'; readonly shares: readonly WakeShare[] };

function useShares(agents: readonly Agent[]): Read {
  const { wakeSizes } = useRoost();
  const [read, setRead] = useState<Read>({ kind: 'reading' });
  const key = agents.map((agent) => agent.agentId).join();
  useEffect(() => {
    let current = true;
    wakeSizes.read(agents).then(
      (shares) => current && setRead({ kind: 'read', shares }),
      (error: unknown) => current && setRead({ kind: 'failed', text: errorText(error) }),
    );
    return () => {
      current = false;
    };
    // The key identifies the sleeping agents; the list itself is new on every render.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [wakeSizes, key]);
  return read;
}

interface RowProps {
  readonly share: WakeShare;
  readonly prompt: string;
  readonly name: string;
  readonly cost: WakeCost | null;
}

function Row({ share, prompt, name, cost }: RowProps) {
  const state = useRoost();
  const { agent, transcript, soulBytes, transcriptBytes } = share;
  return (
    <li className="tint" style={{ '--c': agent.color }}>
      <details className="preview-row box ground-2">
        <summary className="line gap-4 round pad-block-3">
          <ChevronIcon />
          <span className="size-l fixed" data-asleep="true">
            <Face agentId={agent.agentId} face={agent.face} color={agent.color} awake={false} />
          </span>
          <span className="preview-name agent-name clip named grow ellipsis">{name}</span>
          <span className="gap-x-4 to-end text-end flex wrap figures ink-3 text-2">
            <span className="nowrap">{t`soul ${bytes(soulBytes)}`}</span>
            <span className="nowrap">
              {transcript ? t`conversation ${bytes(transcriptBytes)}` : t`no conversation`}
            </span>
            {transcript && transcript.leftOut > 0 && (
              <span className="warn nowrap">{t`${plural(transcript.leftOut, 'earlier message')} left out`}</span>
            )}
            {cost && <span className="nowrap">{t`about ${count(cost.tokens)} tokens`}</span>}
            {cost && cost.microUsd !== null && (
              <span className="nowrap">{t`about ${money(cost.microUsd)} to read`}</span>
            )}
          </span>
        </summary>
        <div className="preview-prompt text-end text-2">
          <button
            type="button"
            className="link-button"
            onClick={() => void copyText(state, prompt, t`Prompt`)}
          >{t`Copy`}</button>
          {/* Scrollable, so that it can be reached by keyboard. */}
          <pre
            className="above-3 tall framed round-s scroll text-start as-written ground-0 pad-6 break"
            // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
            tabIndex={0}
            dir="auto"
            aria-label={t`What ${name} will read`}
          >
            {prompt}
          </pre>
        </div>
      </details>
    </li>
  );
}

/** The content of a wake: the exact text for each agent, and its total size. */
export default function WakePreview({ onClose }: { onClose: () => void }) {
  const asleep = useSleepers({ withPaused: false });
  const arriving = useDevices(arrivingOf);
  const sleepers = asleep.filter(({ agentId }) => !arriving.includes(agentId));
  const late = asleep.length - sleepers.length;
  const roster = useHousehold((state) => state.roster);
  const settings = useHousehold((state) => state.settings);
  const read = useShares(sleepers);
  const now = useNow();
  const template = settings.wakeTemplate === '' ? TEMPLATES.wake : settings.wakeTemplate;
  const people = wakeAround(roster, settings, now);

  const rows = (read.kind === 'read' ? read.shares : []).flatMap((share) => {
    const payload = payloadOf(share);
    if (!payload) return [];
    const prompt = wakePromptOf(payload, people, { ...TEMPLATES, wake: template });
    return [{ share, prompt: prompt.ok ? prompt.text : wakeOriginal(payload, people) }];
  });
  // The same estimate as under the big button.
  const remembered = rows.reduce((sum, { share }) => sum + share.soulBytes + share.transcriptBytes, 0);
  const costs = useWakeCosts(sleepers);

  return (
    <Dialog title={t`What a wake would carry`} shape="wide" onClose={onClose}>
      {late > 0 && <p className="ink-3">{t`${late} on the way`}</p>}
      {asleep.length === 0 && <p className="ink-3">{t`Nobody is asleep.`}</p>}
      {read.kind === 'reading' && sleepers.length > 0 && <p className="ink-3">{t`Loading…`}</p>}
      {read.kind === 'failed' && <p role="alert">{t`Could not load this. ${read.text}`}</p>}
      {rows.length > 0 && (
        <>
          <p className="preview-sum under-4 flex wrap figures ink-2 text-4">
            <strong className="ink">{plural(rows.length, 'agent')}</strong>
            <span>{t`${bytes(remembered)} to remember`}</span>
            {costs.all && <span>{t`about ${count(costs.all.tokens)} tokens`}</span>}
            {costs.all && costs.all.microUsd !== null && <span>{t`about ${money(costs.all.microUsd)} to read`}</span>}
          </p>
          {costs.all && (
            <p className="ink-3">{t`The tokens count everything that is sent: tools, system prompts and the two requests of the lead too. What they answer comes on top.`}</p>
          )}
          {costs.problem !== null && <p role="status">{t`Cost unknown: ${costs.problem}`}</p>}
          <ul className="above-6 stack gap-4">
            {rows.map(({ share, prompt }) => (
              <Row
                key={share.agent.agentId}
                share={share}
                prompt={prompt}
                name={displayName(share.agent, roster)}
                cost={costs.of(share.agent.agentId)}
              />
            ))}
          </ul>
        </>
      )}
    </Dialog>
  );
}

/** The relay ignores an invalid custom template too. */
function wakeOriginal(payload: Parameters<typeof wakePromptOf>[0], people: Parameters<typeof wakePromptOf>[1]): string {
  const prompt = wakePromptOf(payload, people, TEMPLATES);
  return prompt.ok ? prompt.text : prompt.reason;
}
