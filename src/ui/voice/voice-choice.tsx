import { useEffect, useId, useState } from 'react';
import { spoken } from '../../language/catalogue.ts';
import { t } from '../../language/t.ts';
import { useRoost } from '../context.tsx';
import { chooseVoice, chosenVoice, listVoices, readAloud } from './read-aloud.ts';
import { voiceOf, voicesFor } from './words.ts';

interface Props {
  readonly agentId: string;
  readonly name: string;
}

/** By which of the system's voices this agent is read aloud, on this device; nothing where there is but one. */
export function VoiceChoice({ agentId, name }: Props) {
  const state = useRoost();
  const id = useId();
  const [voices, setVoices] = useState<readonly SpeechSynthesisVoice[]>([]);
  const [chosen, setChosen] = useState(() => chosenVoice(state, agentId));
  useEffect(() => {
    let wanted = true;
    void listVoices().then((all) => {
      if (wanted) setVoices(voicesFor(all, spoken.language));
    });
    return () => {
      wanted = false;
    };
  }, []);
  if (voices.length < 2) return null;
  const own = voiceOf(agentId, { voices, language: spoken.language, chosen: null }).voice;
  return (
    <div className="change-part">
      <label htmlFor={id}>{t`Voice`}</label>
      <div className="setting-row">
        <select
          id={id}
          className="field field-select"
          aria-describedby={`${id}-hint`}
          value={chosen ?? ''}
          onChange={({ target }) => {
            chooseVoice(state, agentId, target.value);
            setChosen(target.value === '' ? null : target.value);
          }}
        >
          <option value="">{own ? t`Default: ${own.name}` : t`Default`}</option>
          {voices.map(({ voiceURI, name: label }) => (
            <option key={voiceURI} value={voiceURI}>
              {label}
            </option>
          ))}
        </select>
        <button
          type="button"
          className="ghost"
          onClick={() => void readAloud(state, agentId, name, t`Hello, I am ${name}.`)}
        >{t`Hear it`}</button>
      </div>
      <p className="setting-hint" id={`${id}-hint`}>
        {t`For “Read aloud” in the menu of a message, on this device.`}
      </p>
    </div>
  );
}
