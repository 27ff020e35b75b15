import { Commands } from '../parts/next-step.tsx';
import { say } from '../words/language.ts';
import { pageTexts } from '../words/page-texts.ts';

/** How the user gets a new link. */
export function LoginPage() {
  return (
    <main id="content" class="login">
      <h1>{say(pageTexts.loginTitle)}</h1>
      <p>{say(pageTexts.loginText)}</p>
      <p>{say(pageTexts.loginStep)}</p>
      <Commands commands={['kubectl multinic dashboard']} />
    </main>
  );
}
