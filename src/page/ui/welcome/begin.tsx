/** The form that begins a household: what the agents call the person, and the lead’s name. */
import { useState, type FormEvent } from 'react';
import { DEFAULT_SETTINGS, SETTING_TEXT_MAX } from '../../../shared/domain/settings.ts';
import { t } from '../../language/t.ts';
import { writingStopped } from '../../state/relay-info.ts';
import { useActions, useInfo } from '../context.tsx';
import './welcome.css';
import { useAction } from '../design/use-action.ts';

/**
 * Asks for two names and begins a household. `beside`: also where other people live at the relay.
 */
export function Begin({ onBegun, beside }: { onBegun: () => void; beside: boolean }) {
  const actions = useActions();
  const blocked = useInfo(writingStopped);
  const [human, setHuman] = useState('');
  const [lead, setLead] = useState(DEFAULT_SETTINGS.leadName);
  const [tried, setTried] = useState(false);
  const { busy: saving, failed, act } = useAction();
  const missing = { human: human.trim() === '', lead: lead.trim() === '' };

  const begin = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (missing.human || missing.lead) return;
    act(async () => {
      const begun = await actions.begin({ human: human.trim(), lead: lead.trim(), beside });
      if (begun.ok) onBegun();
      return begun;
    });
  };

  return (
    <form className="halves above-6 stack gap-6" onSubmit={begin} noValidate>
      <div className="rows-top text-2 medium stack gap-3">
        <label htmlFor="human">{t`Your name`}</label>
        <input
          id="human"
          className="field"
          value={human}
          onChange={(event) => setHuman(event.target.value)}
          // oxlint-disable-next-line jsx-a11y/autocomplete-valid -- HTML has it; the linter's list has not.
          autoComplete="given-name"
          maxLength={SETTING_TEXT_MAX.humanName}
          aria-invalid={tried && missing.human}
          aria-describedby="human-note"
          dir="auto"
        />
        <small className="text-2" id="human-note">
          {tried && missing.human && t`It needs a name.`}
        </small>
      </div>
      <div className="rows-top text-2 medium stack gap-3">
        <label htmlFor="lead">{t`Lead's name`}</label>
        <input
          id="lead"
          className="field"
          value={lead}
          onChange={(event) => setLead(event.target.value)}
          autoComplete="off"
          maxLength={SETTING_TEXT_MAX.leadName}
          aria-invalid={tried && missing.lead}
          aria-describedby="lead-note"
          dir="auto"
        />
        <small className="text-2" id="lead-note">
          {tried && missing.lead ? t`It needs a name.` : t`Sits in the middle and calls the others.`}
        </small>
      </div>
      {failed !== null && <p className="danger text-3 whole-row" role="alert">{t`Could not save this. ${failed}`}</p>}
      <button
        type="submit"
        className="big-button whole-row relative no-frame round-l clip text-5 bold fill full"
        disabled={saving || blocked}
      >
        {saving ? t`Saving…` : t`Begin`}
      </button>
    </form>
  );
}
