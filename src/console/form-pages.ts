// Pages with a form: GET shows it, POST does what it asks for, and shows it again with the reason if that is rejected.

import type { Access } from '../store/admission.ts';
import { actionForm, cancel, submit } from './fields.ts';
import { Form } from './form.ts';
import { type Html, html, NO_HTML } from './html.ts';
import type { Page, PageCall, View } from './page.ts';

export interface FormPages extends Pick<Page, 'path' | 'permissions' | 'purpose'> {
  /** Access of the action; `write` if absent. */
  access?: Access;
  /** Fields of the form before anything is typed. */
  initial?(call: PageCall): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  view: FormView;
  act: Page['handle'];
}

type FormView = (
  call: PageCall,
  form: Form,
  problem?: Parameters<NonNullable<Page['retry']>>[1],
) => Promise<View>;

export function formPages({
  access = 'write',
  initial = () => ({}),
  view,
  act,
  ...shared
}: FormPages): [form: Page, action: Page] {
  return [
    {
      ...shared,
      method: 'GET',
      handle: async (call) => view(call, Form.of(await initial(call))),
    },
    {
      ...shared,
      method: 'POST',
      access,
      handle: act,
      retry: (call, problem) => view(call, call.form.rejected(problem), problem),
    },
  ];
}

interface FormContent {
  title: string;
  /** The title if absent. */
  heading?: string;
  /** Content between the heading and the form. */
  text?: Html;
  /** Path of the action. */
  action: string;
  fields: Html;
  button: string;
  isDangerous?: boolean;
  /** Path that "Cancel" leads to. */
  back: string;
  /** Content beside the buttons. */
  more?: Html;
}

export function formView(
  { session }: Pick<PageCall, 'session'>,
  { title, heading = title, text = NO_HTML, isDangerous = false, more = NO_HTML, ...content }: FormContent,
): View {
  const { action, fields, button, back } = content;
  return {
    title,
    main: html`<h1>${heading}</h1>
${text}
${actionForm(
  session,
  action,
  html`${fields}
<div class="actions">${submit(button, isDangerous ? 'danger' : 'primary')} ${cancel(back)} ${more}</div>`,
)}`,
  };
}
