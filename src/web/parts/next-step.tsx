import { useState } from 'preact/hooks';
import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { filled } from '../../api/texts/text.ts';
import { say } from '../words/language.ts';
import { pageTexts } from '../words/page-texts.ts';
import { visible } from '../words/visible.ts';
import { Words } from './texts.tsx';

type NextStepData = ScreenAnswer<'doctor'>['bundle'];

/** The user's next action with commands. */
export function NextStep({ step }: { readonly step: NextStepData | undefined }) {
  if (step === undefined) return null;
  const { text, commands, preview, isAfterText } = step;
  return (
    <div class="next">
      <p>
        <strong>{say(pageTexts.next)}</strong> <Words text={text} />
      </p>
      {preview.length > 0 && <p>{say(pageTexts.preview)}</p>}
      <Commands commands={preview} />
      {commands.length > 0 && isAfterText && <p>{say(pageTexts.afterText)}</p>}
      <Commands commands={commands} />
    </div>
  );
}

/** Shell commands, each with a copy button. */
export function Commands({ commands }: { readonly commands: readonly string[] }) {
  return (
    <>
      {commands.map((command) => (
        <Command key={command} command={command} />
      ))}
    </>
  );
}

function Command({ command }: { readonly command: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(command);
    setCopied(true);
  };
  return (
    <div class="command">
      <pre>
        <code>{visible(command)}</code>
      </pre>
      <button
        type="button"
        aria-label={say(filled(pageTexts.copyLabel, { command }))}
        onClick={() => void copy()}
      >
        {say(isCopied ? pageTexts.copied : pageTexts.copy)}
      </button>
    </div>
  );
}
