// Pages with a form: GET shows it, POST performs its action, or shows it again with the reason if that is
// rejected.

import type { Problem } from '../../problem.ts';
import { buttonTo, type Html, html, NO_HTML } from '../markup/html.ts';
import type { Page, PageCall, View } from '../page.ts';
import { requestPath } from '../request/browser.ts';
import { actionForm, type Labels, problemSummary, submit } from './fields.ts';
import { Form } from './form.ts';

export interface FormPages extends Pick<Page, 'path' | 'permissions' | 'purpose' | 'access'> {
  /** Fields of the form before anything is typed. */
  initial?(call: PageCall): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  view(call: PageCall, form: Form): FormContent | Promise<FormContent>;
  act: Page['handle'];
}

export function formPages({
  initial = () => ({}),
  view,
  act,
  ...shared
}: FormPages): [form: Page, action: Page] {
  const show = async (call: PageCall, form: Form) =>
    formView(call, requestPath(call.request), form.problem, await view(call, form));
  return [
    {
      ...shared,
      method: 'GET',
      handle: async (call) => show(call, new Form(Object.entries(await initial(call)))),
    },
    {
      ...shared,
      method: 'POST',
      handle: act,
      onRejection: (call, problem) => show(call, call.form.rejected(problem)),
    },
  ];
}

export interface FormContent {
  title: string;
  /** The title if absent. */
  heading?: string;
  /** Subject of the form, below the heading. */
  subject?: Html;
  /** Why the form was rejected; its problem if absent. */
  reason?: Html;
  /** Labels of the fields in the problem; see `problemSummary`. */
  labels?: Labels;
  /** Content above the form. */
  text?: Html;
  fields?: Html;
  button: string;
  isDangerous?: boolean;
  /** Path that "Cancel" leads to; if absent, the one above that of the form. */
  back?: string;
  /** Content beside the buttons. */
  more?: Html;
}

/** `action` is the path that the form is sent to, and `problem` why it was rejected. */
export function formView(
  { session }: PageCall,
  action: string,
  problem: Problem | undefined,
  { title, heading = title, subject = NO_HTML, text = NO_HTML, ...content }: FormContent,
): View {
  const { labels, reason = problemSummary(problem, labels) } = content;
  const { fields = NO_HTML, button, isDangerous = false, more = NO_HTML } = content;
  const { back = action.replace(/\/[^/]*$/, '') } = content;
  return {
    title,
    heading,
    main: html`${subject}
${reason}
${text}
${actionForm(
  session,
  action,
  html`${fields}
<div class="actions">${submit(button, isDangerous ? 'danger' : 'primary')} ${buttonTo(back, 'Cancel')} ${more}</div>`,
)}`,
  };
}
