/** The summary by which an agent goes on, where it was written: one line that opens. */
import { type FormEvent, useState } from 'react';
import type { Compaction, MessageDoc } from '../../../shared/protocol/documents.ts';
import { textOf } from '../../../shared/domain/text-of.ts';
import { t } from '../../language/t.ts';
import { correctSummary } from '../../state/summaries.ts';
import { useRoost } from '../context.tsx';
import ReplyCost from '../costs/reply-cost.tsx';
import { ChevronIcon } from '../design/more-icons.tsx';
import { tokens } from '../text/money.ts';
import { plural } from '../text/sizes.ts';
import { useOpened } from './log.tsx';
import { Words } from './markdown.tsx';
import { useAction } from '../design/use-action.ts';
import { WrongNote } from '../design/field.tsx';

const ROWS = 10;

function CorrectionForm({ message, onClose }: { readonly message: MessageDoc; readonly onClose: () => void }) {
  const roost = useRoost();
  const [draft, setDraft] = useState(textOf(message.blocks));
  const { busy, failed, act } = useAction();
  function submit(event: FormEvent) {
    event.preventDefault();
    if (draft.trim() === '') return;
    act(async () => {
      const done = await correctSummary(roost, message, draft.trim());
      if (done.ok) onClose();
      return done;
    });
  }
  return (
    <form className="gap-4 stack" onSubmit={submit}>
      <textarea
        className="field"
        aria-label={t`Text of the summary`}
        rows={ROWS}
        value={draft}
        onChange={({ target }) => setDraft(target.value)}
      />
      <WrongNote text={failed} />
      <p className="flex gap-6">
        <button type="submit" className="solid" disabled={busy}>{t`Save`}</button>
        <button type="button" className="ghost" onClick={onClose}>{t`Cancel`}</button>
      </p>
    </form>
  );
}

export default function SummaryNote({
  message,
  compaction: { messages, tokensBefore, tokensAfter },
  name,
}: {
  readonly message: MessageDoc;
  readonly compaction: Compaction;
  readonly name: string;
}) {
  const [open, setOpen] = useOpened(message.messageId);
  const [isEditing, setIsEditing] = useState(false);
  return (
    <details className="tools relay-note" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <ChevronIcon />
        <span>{t`${name} summarised ${plural(messages, 'earlier message')} to go on`}</span>
      </summary>
      {open && (
        <div>
          <p>
            {t`${name} now reads this summary in place of these messages: ${tokens(tokensAfter)} of ${tokens(tokensBefore)} tokens. You still have every message above.`}
          </p>
          {isEditing ? (
            <CorrectionForm message={message} onClose={() => setIsEditing(false)} />
          ) : (
            <>
              <Words text={textOf(message.blocks)} />
              <button type="button" className="link-button" onClick={() => setIsEditing(true)}>{t`Edit`}</button>
            </>
          )}
          <ReplyCost messageId={message.messageId} />
        </div>
      )}
    </details>
  );
}
