/**
 * Messages written during an answer. They wait for its end, and can be edited or withdrawn until
 * they are read.
 */
import { t } from '../../language/t.ts';
import { beginningOfText } from '../../../shared/domain/cut-middle.ts';
import { textOf } from '../../../shared/domain/text-of.ts';
import type { SendState, Withdrawn } from '../../state/outbox/index.ts';
import { useActions, useLive, useRoost } from '../context.tsx';
import { CloseIcon } from '../design/icons.tsx';
import { AttachIcon, EditIcon, RetryIcon } from '../design/more-icons.tsx';
import type { WrittenMeanwhile as Item } from './meanwhile.ts';
import './written-meanwhile.css';
import { useAction } from '../design/use-action.ts';

/** Characters in the single line. */
const SHOWN = 300;

function noteOf(state: SendState): string {
  if (state.kind === 'refused') return t`Not sent: ${state.reason}`;
  return state.kind === 'waiting' ? t`Not sent yet` : t`Sending…`;
}

function aboutOf(item: Item) {
  switch (item.kind) {
    case 'message':
      return { text: textOf(item.message.blocks), files: item.message.attachments ?? [], note: null };
    case 'queued':
      return { text: item.message.text, files: item.message.attachments ?? [], note: t`Kept on this device` };
    case 'sending': {
      const { text, state, attachments } = item.sending;
      return { text, files: attachments, note: noteOf(state) };
    }
    default:
      return item satisfies never;
  }
}

interface Props {
  readonly name: string;
  readonly items: readonly Item[];
  readonly onAgain: (clientId: string) => void;
  readonly onWithdrawn: (taken: Withdrawn) => void;
}

function Row({ item, onAgain, onWithdrawn }: Omit<Props, 'items' | 'name'> & { item: Item }) {
  const actions = useActions();
  const { notices, outbox } = useRoost();
  const { busy, act } = useAction();
  const refusal = useLive(({ undelivered }) =>
    item.kind === 'queued' ? undelivered.get(item.message.clientId) : undefined,
  );
  const { text, files, note: kept } = aboutOf(item);
  const note = refusal === undefined ? kept : t`Not sent: ${refusal}`;
  const withdraw = async (): Promise<Withdrawn | null> => {
    if (item.kind === 'sending') return outbox.withdraw(item.sending.clientId);
    return await actions.withdraw(item.message);
  };
  const edit = async () => {
    const taken = await withdraw();
    if (taken) onWithdrawn(taken);
  };
  const drop = async () => {
    const taken = await withdraw();
    if (!taken) return;
    const agentId = item.kind === 'sending' ? null : item.message.agentId;
    const run = () =>
      agentId === null ? onWithdrawn(taken) : void actions.send(agentId, taken.text, undefined, taken);
    notices.info(t`Withdrawn. Nobody has read it.`, { label: t`Undo`, run });
  };
  const state = item.kind === 'sending' ? item.sending.state.kind : null;
  return (
    <li
      className="meanwhile-row line gap-4 ink-2 text-3 round"
      data-failed={state === 'refused' || refusal !== undefined}
    >
      <span className="truncate fill" dir="auto">
        {beginningOfText(text, SHOWN)}
      </span>
      {files.map(({ attachmentId, name }) => (
        <span
          key={attachmentId}
          className="meanwhile-file inline-flex round-s clip text-2 middle gap-2 ink-2 ground-3 shrink-only"
        >
          <AttachIcon />
          <span className="nowrap clip ellipsis" dir="auto">
            {name}
          </span>
        </span>
      ))}
      {note !== null && (
        <span
          className={`meanwhile-note text-2 truncate fixed ${state === 'refused' || refusal !== undefined ? 'danger' : 'ink-3'}`}
        >
          {note}
        </span>
      )}
      {state !== 'sending' && state !== 'accepted' && (
        <span className="meanwhile-ways flex fixed">
          {item.kind === 'sending' && state === 'refused' && (
            <button
              type="button"
              className="icon-button size-l"
              aria-label={t`Try again`}
              title={t`Try again`}
              onClick={() => onAgain(item.sending.clientId)}
            >
              <RetryIcon />
            </button>
          )}
          <button
            type="button"
            className="icon-button size-l"
            aria-label={t`Edit`}
            title={t`Edit`}
            disabled={busy}
            onClick={() => act(edit)}
          >
            <EditIcon />
          </button>
          <button
            type="button"
            className="icon-button size-l"
            aria-label={t`Withdraw`}
            title={t`Withdraw`}
            disabled={busy}
            onClick={() => act(drop)}
          >
            <CloseIcon />
          </button>
        </span>
      )}
    </li>
  );
}

export function WrittenMeanwhile({ name, items, ...ways }: Props) {
  return (
    <section className="meanwhile scroll full" aria-label={t`Written meanwhile`}>
      <p className="meanwhile-head text-2 ink-3">{t`${name} reads this next.`}</p>
      <ol className="stack one-column gap-2">
        {items.map((item) => (
          <Row key={item.key} item={item} {...ways} />
        ))}
      </ol>
    </section>
  );
}
