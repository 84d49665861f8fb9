"""The sentences of messages, methods and preregistrations in German; names of columns and levels stay as they are."""

from __future__ import annotations

from karat.languages.language import FORMS, MESSAGE_FORMS, Language

NOUNS = {
    "participant": ("Person", "Personen"), "item": ("Item", "Items"), "test item": ("Test-Item", "Test-Items"),
    "list": ("Liste", "Listen"), "trial": ("Trial", "Trials"), "answer": ("Antwort", "Antworten"),
    "condition": ("Bedingung", "Bedingungen"), "question": ("Frage", "Fragen"), "day": ("Tag", "Tage"),
    "stimulus": ("Stimulus", "Stimuli"), "attempt": ("Versuch", "Versuche"), "page": ("Seite", "Seiten"),
    "mark": ("Merkmal", "Merkmale"), "minute": ("Minute", "Minuten"), "pair": ("Paar", "Paare"),
    "factor": ("Faktor", "Faktoren"), "time": ("Mal", "Mal"), "step": ("Schritt", "Schritten"),
    "intermission": ("Unterbrechung", "Unterbrechungen"), "rush": ("übereilte Antwort", "übereilte Antworten"),
    "round": ("Runde", "Runden"), "slip": ("Fehler", "Fehler"), "response time": ("Antwortzeit", "Antwortzeiten"),
    "score": ("Wert", "Werte"), "label": ("Label", "Labels"), "group": ("Gruppe", "Gruppen"),
    "comparison": ("Vergleich", "Vergleiche"), "repeated question": ("wiederholte Frage", "wiederholte Fragen"),
    "simulation": ("Simulation", "Simulationen"), "case": ("Fall", "Fälle"), "text": ("Text", "Texte"),
    "rating": ("Rating", "Ratings"),
}  # fmt: skip

TEXTS = {
    "yes": "ja", "no": "nein",
    "task.yes-no": "die Teilnehmenden [beantworteten|beantworten] jeden Stimulus mit {low:quoted} oder {high:quoted}.",
    "task.likert": "die Teilnehmenden [bewerteten|bewerten] jeden Stimulus auf einer Skala mit {points:spelled} "
    "Punkten{ends}{slider}.",
    "task.choice": "in jedem Trial [sahen|sehen] die Teilnehmenden zwei Stimuli und [wählten|wählen] einen "
    "davon{none}.",
    "task.magnitude": "die Teilnehmenden [gaben|geben] jedem Stimulus eine Zahl im Verhältnis zu seiner "
    "Akzeptabilität{modulus} [@bard1996].",
    "task.differential": "die Teilnehmenden [bewerteten|bewerten] jeden Text anhand gegensätzlicher Adjektive "
    "({pairs:pair}, je {points:spelled} Punkte){slider} [@osgood1957; @macketanz2022].",
    "task.label": "die Teilnehmenden [ordneten|ordnen] jedem Stimulus eine von {number:spelled} Kategorien zu "
    "({levels}).",
    "task.continuous": "die Teilnehmenden [bewerteten|bewerten] jeden Stimulus auf einer stufenlosen Skala von {low} "
    "bis {high}.",
    "task.number": "die Teilnehmenden [beantworteten|beantworten] jeden Stimulus mit einer Zahl.",
    "ends": " von {low:quoted} bis {high:quoted}",
    "slider": " mit einem Schieberegler ohne Anfangsstellung",
    "none": " oder [antworteten|antworten] „kein Unterschied“",
    "modulus": ", bezogen auf einen Modulus von {number}",
    "repeated": "Um die Konsistenz zu prüfen, [wurden|werden] manche Adjektive ({pairs:spelled pair}) zweimal "
    "vorgelegt.",
    "prompt": "In jedem Trial [stand|steht] die Frage {prompt:quoted} auf der Seite.",
    "factors": "Das Design [hatte|hat] {number:spelled factor}: {factors:and}.",
    "within.": "innerhalb von Personen und Items", "within.items": "zwischen Items",
    "within.participants": "zwischen Personen",
    "compared": "Die Stufen von {factor} [wurden|werden] nebeneinander gezeigt.",
    "items": "Das Material [umfasste|umfasst] {tests:spelled test item} (Listen: {lists:spelled list}).",
    "items.conditions": "Das Material [umfasste|umfasst] {tests:spelled test item} in {conditions:spelled condition}, "
    "verteilt auf {lists:spelled list}.",
    "example": "Eines der Test-Items [war|ist] zum Beispiel {sentence:quoted}[[ ({levels})]].",
    "subset": "Jede Person [beurteilte|beurteilt] {items:item}; jedes Item [wurde|wird] von {participants:participant} "
    "beurteilt.",
    "random pairs": "Außerdem [sah|sieht] jede Person zufällig gezogene Paare ({pairs:pair}).",
    "functions": "Jede Liste [hatte|hat] {trials} ({functions}).",
    "function.test": "Testtrials", "function.filler": "Füller",
    "function.control": "Kontrolltrials", "function.attention": "Aufmerksamkeitstrials",
    "function.calibration": "Kalibrierungstrials", "function.practice": "Übungstrials",
    "trials": "{functions}",
    "range": "{low} bis {high}",
    "clear": "{functions} [hatten|haben] eine eindeutig richtige Antwort [@pieper].",
    "repeated items": "Um die Konsistenz zu prüfen, [wurden|werden] {items:item} in derselben Sitzung zweimal "
    "beurteilt.",
    "rounds": "Die Items [wurden|werden] {times:spelled time} beurteilt, jedes Mal in neuer Reihenfolge.",
    "sessions": "Es [gab|gibt] zwei Sitzungen{days}.",
    "days": " (Abstand mindestens {days:day})",
    "order": "Die Trials [wurden|werden] jeder Person in einer neuen zufälligen Reihenfolge gezeigt.",
    "order.rules": "Die Trials [wurden|werden] jeder Person in einer neuen zufälligen Reihenfolge mit folgenden "
    "Einschränkungen gezeigt: {rules}.",
    "order.calibration": "Kalibrierungstrials zuerst",
    "order.adjacent": "keine zwei Testtrials nacheinander",
    "order.spread": "{functions} gleichmäßig verteilt",
    "order.in_a_row": "höchstens {number:spelled} Trials in Folge mit demselben Wert von {column}",
    "order.distance": "Trials mit demselben Wert von {column} mindestens {number:spelled} Positionen voneinander "
    "entfernt",
    "order.keep_ratio": "gleicher Anteil von Testtrials in jedem Viertel",
    "order.mixed_blocks": "Trials auf {number:spelled} gleich zusammengesetzte Blöcke verteilt",
    "quiz": "Vor den Trials [bearbeiteten|bearbeiten] die Teilnehmenden ein Quiz zur Instruktion ("
    "{questions:spelled question}, höchstens {attempts:spelled attempt}).",
    "browser": "Das Experiment lief mit karat im Browser der Teilnehmenden; karat nutzt jsPsych [@deleeuw2015].",
    "answers": "Der Datensatz enthält {answers:answer} zu {items:item} von {participants:participant} (Median: "
    "{median} pro Person).",
    "answers.functions": "Die Antworten verteilen sich auf {functions}.",
    "simulated": "Diese Antworten sind simuliert: Niemand hat sie gegeben. Sie zeigen, wie ein Bericht über diese "
    "Studie aussähe, und sagen nichts über Menschen oder Sprache aus.",
    "simulated.some": "Simuliert: {number} von {participants:participant}; deren Antworten hat niemand gegeben. Sie "
    "sollten entfernt werden, bevor Schlüsse gezogen werden.",
    "simulated.methods": "Die Daten wurden mit karat simuliert, um die Studie vor der Rekrutierung zu erproben. "
    "Niemand wurde rekrutiert; Teilnehmende, Antworten und Antwortzeiten in diesem Abschnitt sind simuliert.",
    "simulated.methods.some": "Mit karat simuliert wurden {number} von {participants:participant}; deren Antworten hat "
    "niemand gegeben.",
    "simulated.took part": "Die Daten stammen von {participants:participant}, die alle simuliert sind.",
    "platform": "Die Teilnehmenden [wurden|werden] über {platform} rekrutiert; angestrebt [wurden|werden] {number} "
    "geeignete Teilnehmende.",
    "source.link": "einen Link zur Studie",
    "sample size": "Die Stichprobengröße [beruhte|beruht] auf Simulationen[[ von {simulations} Studien]]: Mit "
    "{participants:participant} und {items:test item} wird im Vergleich {contrast:quoted} {effect} mit einer "
    "Teststärke von {power:.2r} bei α = {alpha} entdeckt[[, wenn {exclude:%} der Teilnehmenden ausgeschlossen "
    "werden]].",
    "effect": "ein Unterschied von {effect} {unit}",
    "unit.log-odds": "Log-Odds", "unit.scale": "Punkten auf der Antwortskala",
    "pay": "Die Vergütung [betrug|beträgt] {pay:.2} {currency} pro Stunde.",
    "minutes": "Die angekündigte Dauer [betrug|beträgt] {minutes}.",
    "eligible": "Geeignet [war|ist] nur, wer auf die Frage {question:quoted} mit {answers:or} [antwortete|antwortet].",
    "asked": "Die Teilnehmenden [wurden|werden] außerdem nach Folgendem gefragt: {columns:and}.",
    "consent": "Alle Teilnehmenden [gaben|geben] ihre informierte Einwilligung.",
    "ethics": "Die Studie wurde genehmigt ({ethics}).",
    "took part": "Insgesamt nahmen {participants:participant} teil.",
    "sources": "Sie wurden über {counts:and} rekrutiert.",
    "when": "Die Daten wurden zwischen dem {first} und dem {last} erhoben.",
    "when.day": "Die Daten wurden am {first} erhoben.",
    "working.minutes": "Die Bearbeitungszeit betrug im Median {median:.1} Minuten (Spannweite: {low:.1} bis "
    "{high:.1}).",
    "working.seconds": "Die Bearbeitungszeit betrug im Median {median:.1} Sekunden (Spannweite: {low:.1} bis "
    "{high:.1}).",
    "background": "Angaben zur Person: {columns}.",
    "background.number": "{column}: Median {median}, Spannweite {low} bis {high}",
    "count.missing": "unbekannt ({number})",
    "rules.study": "Die Ausschlusskriterien, ihre Einstellungen und die Ausschlussregel waren die der Studiendatei "
    "(Fingerabdruck {fingerprint}).",
    "rules.other": "Die Ausschlusskriterien oder die Ausschlussregel wichen von denen der Studiendatei ab "
    "(Fingerabdruck {fingerprint}).",
    "rules.given": "Die Ausschlusskriterien wurden für diese Auswertung gewählt und stehen in keiner Studiendatei.",
    "rules.none": "Da keine Ausschlussregel festgelegt [war|ist], [wurde|wird] niemand ausgeschlossen.",
    "stages": "Die Kriterien [wurden|werden] in drei Stufen angewandt (Vollständigkeit, Antwortzeiten, Antworten); wer "
    "auf einer Stufe ausgeschlossen [wurde|wird], [ging|geht] nicht in die nächste ein.",
    "asks": "Die Kriterien [verlangten|verlangen] Folgendes.",
    "flagged": "{name}: {clause}{cites}; {number} von {participants:participant} auffällig.",
    "stage.excluded": "Diese Stufe schloss {number} von {entered} Teilnehmenden aus; es verblieben {remained}.",
    "stage.nobody": "Auf dieser Stufe wurde niemand ausgeschlossen.",
    "skipped": "{name}: nicht berechenbar. {why}",
    "rule.any": "wer nach mindestens einem Kriterium [auffiel|auffällt]",
    "rule.all": "wer nach allen Kriterien [auffiel|auffällt]",
    "rule.number": "wer nach mindestens {number} Kriterien [auffiel|auffällt]",
    "rule.expression": "auf wen die Regel „{rule}“ [zutraf|zutrifft]",
    "rule": "Ausgeschlossen [wurde|wird], {rule}.",
    "verdict": "Der Ausschluss betraf insgesamt {number} von {participants:participant}; in die Auswertung gingen "
    "{kept} ein.",
    "index": "Der Spammer-Index [@ba2024] der ausgewerteten Teilnehmenden betrug {value:.3r} (95-%-Intervall "
    "{lower:.3r} bis {upper:.3r}).",
    "no study": "Es gibt keine Studiendatei und damit nichts, was präregistriert werden könnte.",
    "no screening": "Die Studiendatei nennt keine Ausschlusskriterien; niemand wird ausgeschlossen.",
    "fingerprint": "Der Fingerabdruck der Studiendatei und ihrer Tabellen ist {fingerprint}.",
    "nobody else": "Weitere Ausschlusskriterien werden nicht angewandt.",
    "needs": "auffällig [war|ist] (auf Englisch): anyone {asks}",
    "needs.eligibility": "erforderliche Antworten, nämlich {answers}",
    "needs.eligibility.same": "übereinstimmende Antworten, nämlich {same}",
    "needs.quiz": "Quiz nach höchstens {attempts_at_most} Versuchen bestanden",
    "needs.completion": "Antworten auf mindestens {at_least} der Trials und keine zweite Teilnahme",
    "needs.completion.trials": "Antworten auf mindestens {at_least} von {trials} Trials und keine zweite Teilnahme",
    "needs.speed.mean_below": "mittlere Antwortzeit von mindestens {mean_below} s",
    "needs.speed.median_below": "Median der Antwortzeiten von mindestens {median_below} s",
    "needs.speed.relative_below": "Median der Antwortzeiten von mindestens {relative_below} des Medians aller "
    "Teilnehmenden",
    "needs.speed.share_of_expected": "Bearbeitungszeit von mehr als {share_of_expected} von {expected_minutes} Minuten",
    "needs.remfod": "mindestens {genuine_at_least} echte Antwortzeiten, also Zeiten von höchstens {upper} medianen "
    "absoluten Abweichungen über und {lower} unter dem Median nach Person und nach Item-Funktion, iterativ bestimmt",
    "needs.remfod.rule": "mindestens {genuine_at_least} der Antwortzeiten nach der Regel {rule} keine Ausreißer",
    "needs.automation": "Wahrscheinlichkeit einer Automatisierung von höchstens {above}, nach den Spuren von Maus und "
    "Tastatur",
    "needs.receipt_times": "Antwortzeiten, die bis auf {slack} s zwischen die Eingangszeiten des Servers passen, ein "
    "Lesetempo von höchstens {words_per_minute} Wörtern pro Minute und eine Uhr, die nicht rückwärts läuft",
    "needed": "mindestens {needed} von {trials} richtig",
    "needed.group": "mindestens {needed} von {trials} {group} Trials richtig",
    "needed.guess": "wer rät, besteht mit p {p:p}", "group.grammatical": "grammatischen",
    "group.ungrammatical": "ungrammatischen", "account.positional": "positionalen",
    "account.relational": "relationalen", "account.extended": "erweiterten relationalen", "account.strict": "strengen",
    "account.pairwise": "paarweisen",
    "needs.controls": "klare Fälle nach dem {account} Maßstab bei α = {alpha} unterschieden",
    "needs.controls.slips": "klare Fälle nach dem {account} Maßstab unterschieden, höchstens {slips} falsch",
    "needs.controls.neutral": "höchstens {neutral_at_most} neutrale Antworten auf Kontrolltrials",
    "needs.attention": "richtige Antworten nach dem {account} Maßstab bei α = {alpha}",
    "needs.attention.slips": "richtige Antworten nach dem {account} Maßstab, höchstens {slips} falsch",
    "needs.straightlining": "keine Folge und kein Muster von Antworten mit einer Zufallswahrscheinlichkeit unter "
    "{alpha}",
    "needs.inconsistency": "bessere Übereinstimmung wiederholter Antworten als beim Raten, sodass, wer rät, mit p ≤ "
    "{alpha} besteht",
    "needs.inconsistency.upper": "Unterschied wiederholter Antworten von höchstens {upper} medianen absoluten "
    "Abweichungen über dem Median",
    "needs.scale_use": "höchstens {neutral_at_most} neutrale Antworten",
    "needs.even_odd": "Korrelation der beiden Antworthälften von mindestens {at_least}",
    "needs.mahalanobis": "Abstand von den Antworten aller Teilnehmenden mit p ≥ {alpha}",
    "needs.person_total": "Korrelation mit den mittleren Antworten der anderen von mindestens {at_least}",
    "needs.time_filter.mean": "mittlere Antwortzeit nicht unter dem Mittel aller Antwortzeiten",
    "needs.time_filter.mean-sd": "mittlere Antwortzeit höchstens eine Standardabweichung unter dem Mittel aller "
    "Antwortzeiten",
    "needs.markov": "kein Muster in den Übergängen zwischen Antworten, mit Grenzwerten {cutoffs} und α = {alpha}",
    "needs.risk": "keine hohe Risikostufe nach Muster, Zeit und Richtigkeit, mit Grenzwerten {cutoffs} und α = {alpha}",
    "needs.deletion": "keine große Änderung im Modell aller Antworten nach der Regel {by} bei α = {alpha}",
    "needs.credence": "geschätzte Wahrscheinlichkeit von mindestens {below}, aufmerksam geantwortet zu haben",
    "needs.twins": "höchstens {at_least} der offenen Antworten mit einer anderen Person gemeinsam, bei einer "
    "Falschentdeckungsrate von {rate}",
    "needs.too_regular": "Antworten und Zeiten nicht regelmäßiger als die von Menschen, bei einer "
    "Falschentdeckungsrate von {rate}",
    "needs.platform_flags": "weniger als {at_least} Hinweise der Betrugserkennung der Plattform",
    "needs.probes": "weniger als {at_least} Proben wie von Programmen beantwortet",
    "needs.procedure": "nicht alle Schritte erfüllt: Spammer-Index ab {least_index}, {order}, Hilfsfaktor {auxiliary}, "
    "Grenzwerte {cutoffs}, α = {alpha}",
    "analysed": "In die Auswertung [gingen|gehen] nur {functions} ein. Intervalle haben ein Niveau von {level:%}.",
    "strengths.ordinal": "Die Akzeptabilität von {stimuli} [wurde|wird] mit einem kumulativen Logit-Modell "
    "mit Zufallseffekten für Personen und Stimuli geschätzt [@mccullagh1980].",
    "strengths.binary": "Die Akzeptabilität von {stimuli} [wurde|wird] mit einem Logit-Modell mit "
    "Zufallseffekten für Personen und Stimuli geschätzt [@bates2015].",
    "strengths.mean": "Die Akzeptabilität von {stimuli} [wurde|wird] als Mittelwert der Antworten bestimmt.",
    "strengths.zscore": "Die Akzeptabilität von {stimuli} [wurde|wird] als Mittelwert der je Person standardisierten "
    "Antworten bestimmt.",
    "strengths.magnitude": "Die Akzeptabilität von {stimuli} [wurde|wird] als Mittelwert der logarithmierten, je "
    "Person standardisierten Antworten bestimmt [@bard1996].",
    "strengths.thurstone": "Die Akzeptabilität von {stimuli} [wurde|wird] mit Thurstones Modell für drei Antworten "
    "geschätzt, in dem sich Personen in Streuung und Kriterium unterscheiden [@thurstone1927; @langsford2018].",
    "strengths.davidson": "Die Akzeptabilität von {stimuli} [wurde|wird] mit Davidsons Modell geschätzt, das "
    "„kein Unterschied“ als dritte Antwort behandelt [@davidson1970].",
    "strengths.bradley-terry": "Die Akzeptabilität von {stimuli} [wurde|wird] mit dem Bradley-Terry-Modell "
    "geschätzt [@bradley1952].",
    "all stimuli": "allen Stimuli",
    "contrasts.ordinal": "Die Bedingungen [wurden|werden] in einem gemischten kumulativen Logit-Modell verglichen, "
    "{formula} [@mccullagh1980; @barr2013], mit Typ-III-F-Tests, Freiheitsgraden nach Satterthwaite "
    "[@satterthwaite1946; @kuznetsova2017] und innerhalb der Terme nach Holm korrigierten p-Werten [@holm1979].",
    "contrasts.binary": "Die Bedingungen [wurden|werden] in einem gemischten Logit-Modell verglichen, {formula} "
    "[@bates2015; @barr2013], mit Typ-III-F-Tests, Freiheitsgraden nach Satterthwaite [@satterthwaite1946] und "
    "innerhalb der Terme nach Holm korrigierten p-Werten [@holm1979].",
    "contrasts.gaussian": "Die Bedingungen [wurden|werden] in einem linearen gemischten Modell verglichen, {formula} "
    "[@bates2015; @barr2013], mit Typ-III-F-Tests, Standardfehlern und Freiheitsgraden nach Kenward und Roger "
    "[@kenward1997; @halekoh2014] und innerhalb der Terme nach Holm korrigierten p-Werten [@holm1979].",
    "contrasts.right": "Richtige Antworten [wurden|werden] zwischen den Bedingungen in einem gemischten Logit-Modell "
    "verglichen, {formula} [@bates2015; @barr2013], mit Typ-III-F-Tests, Freiheitsgraden nach Satterthwaite "
    "[@satterthwaite1946] und innerhalb der Terme nach Holm korrigierten p-Werten [@holm1979].",
    "means.right": "Die Anteile richtiger Antworten betrugen {cells:and}.",
    "simplified": "Weil die Anpassung singulär war, wurden die Zufallseffekte in {times:spelled step} vereinfacht; "
    "übrig blieb {formula}.",
    "slopes left out": "Auf zufällige Steigungen der {groups:and} wurde wegen der großen Zahl von "
    "Zufallseffekten verzichtet.",
    "simplify": "Steigungen variieren nach Person und nach Item, wo das Design mehrere Antworten pro Zelle hat. Ist "
    "die Anpassung singulär, entfallen zuerst die Korrelationen des betreffenden Terms und danach einzeln die Effekte, "
    "die am wenigsten variieren, bis die Anpassung nicht mehr singulär ist. Alles, was entfällt, wird berichtet.",
    "means": "Auf der Antwortskala betrugen die Mittelwerte[[ von {question:quoted}]] (mit Standardabweichungen) "
    "{cells:and}.",
    "means.binary": "Die Anteile der Antwort {answer:quoted}[[ auf {question:quoted}]] betrugen {cells:and}.",
    "mean": "{mean:.2} ({sd}) für {levels:quoted}",
    "mean.binary": "{mean:.2r} für {levels:quoted}",
    "planned contrast": "Der geplante Vergleich [war|ist] {contrasts}. Sein p-Wert ist nicht korrigiert.",
    "planned contrasts": "Geplante Vergleiche [waren|sind] {contrasts}. Ihre p-Werte sind nicht korrigiert; nach Holm "
    "korrigierte p-Werte [@holm1979] werden ebenfalls berichtet.",
    "contrast.within": ", wo {levels:and}", "contrast.at": "bei",
    "part.order effects": "Reihenfolgeeffekte sind Änderungen der {measures:and} vom ersten zum letzten Trial[[, "
    "{conditions},]] in einem gemischten Modell.",
    "order.response": "Antworten", "order.rt": "logarithmierten Antwortzeiten", "order.conditions": "nach Bedingung",
    "part.decisions": "Paare von Stimuli wurden darauf getestet, welcher der bessere ist, und auf Äquivalenz "
    "[@langsford2018].",
    "part.agreement": "Die Übereinstimmung der Teilnehmenden, gemessen mit {coefficient}{cites}, betrug "
    "{estimates:and}.",
    "agreement.estimate": "{estimate:.2r}[[ ({level:%-}Bootstrap-Intervall: {lower:.2r} bis {upper:.2r})]][[ bei "
    "{question:quoted}]]",
    "alpha.ordinal": "Krippendorffs α für ordinale Daten", "alpha.interval": "Krippendorffs α für Intervalldaten",
    "alpha.nominal": "Krippendorffs α für nominale Daten",
    "part.noise ceiling": "Die bestmögliche Vorhersage (die Rauschgrenze) wurde aus der Split-Half-Reliabilität und "
    "der Korrelation jeder Person mit den anderen geschätzt [@nili2014].",
    "part.noise ceiling.labels": "Die bestmögliche Vorhersage (die Rauschgrenze) wurde als Anteil der Antworten "
    "geschätzt, die der häufigsten Antwort der anderen gleichen.",
    "part.decision study": "Wie viele Personen und Items für reliable Mittelwerte nötig sind, wurde aus "
    "Varianzkomponenten abgeleitet [@brennan2001].",
    "part.stability": "Die Stabilität ist die Korrelation der Werte zwischen Sitzungen oder Gruppen, mit "
    "Bootstrap-Intervallen [@langsford2018].",
    "part.factors": "Dimensionen [wurden|werden] mit einer Faktorenanalyse (Maximum Likelihood, Promax-Rotation) "
    "bestimmt [@hendrickson1964; @macketanz2022]. Ihre Zahl [wurde|wird] mit der Parallelanalyse [@horn1965] und "
    "Velicers Kriterium [@velicer1976] bestimmt, nach einer Prüfung der Eignung der Daten [@kaiser1974].",
    "part.consensus": "Das Label jedes Items [wurde|wird] zusammen mit den Fehlerraten der Personen geschätzt "
    "[@dawid1979].",
    "bayes": "Ein bayessches gemischtes Modell derselben Antworten [wurde|wird] mit NUTS angepasst [@hoffman2014]. "
    "Die A-priori-Verteilungen [waren|sind] für Unterschiede normal (Standardabweichung {coefficient}), für die "
    "Standardabweichungen der Zufallseffekte halb-t mit 3 Freiheitsgraden (Skala {deviation}) und für ihre "
    "Korrelationen LKJ({correlation}). Bayes-Faktoren [wurden|werden] als Savage-Dickey-Quotienten berechnet "
    "[@wagenmakers2010].",
    "unmeasured": "Es wurde nichts gemessen. {why}",
    "software": "Alle Auswertungen wurden mit karat {karat} berechnet ({others}).",
    "software.planned": "Alle Auswertungen werden mit karat {karat} berechnet.",
}  # fmt: skip

NAMES = {
    "eligibility": "Eignung", "quiz": "Verständnisquiz", "completion": "Vollständigkeit", "speed": "Tempo",
    "receipt_times": "Eingangszeiten", "automation": "Automatisierung",
    "remfod": "Antwortzeiten (ReMFOD)", "controls": "Kontrollsätze", "attention": "Aufmerksamkeitstrials",
    "straightlining": "Antwortmuster", "inconsistency": "Wiederholte Fragen", "scale_use": "Nutzung der Skala",
    "even_odd": "Gerade-ungerade-Konsistenz", "mahalanobis": "Abstand der Antworten",
    "person_total": "Übereinstimmung mit anderen", "time_filter": "Mittlere Zeit",
    "markov": "Übergänge zwischen Antworten", "risk": "Risikostufe", "deletion": "Änderung des Modells",
    "credence": "Glaubwürdigkeit", "twins": "Zwillinge", "too_regular": "Regelmäßigkeit",
    "platform_flags": "Hinweise der Plattform", "probes": "Proben für Programme", "procedure": "Schritte für Crowds",
}  # fmt: skip

MESSAGES = {
    # ==================== models ====================
    "models.names": "{names}[[ und {more} weitere]]",
    "models.no_p": "unbekannt",
    "models.same_answers": "Alle Antworten sind gleich; es gibt nichts anzupassen.",
    "models.two_of_each": "Gekreuzte Effekte brauchen mindestens zwei Personen und zwei Items.",
    "models.two_values": "Ein binäres Modell braucht zwei verschiedene Antworten; es gibt {n}.",
    "models.no_answers": "Es gibt keine Antworten, an die sich ein Modell anpassen ließe.",
    "models.no_start": "Die Likelihood lässt sich an den Startparametern nicht berechnen. Parameter müssen endlich "
    "sein, Schwellen steigen, und gemessene Antworten müssen ein Residuum lassen.",
    "models.nominal_size": "{workers} Personen × {tasks} Items × {categories} Kategorien sind zu viele für ein "
    "nominales Modell. Weniger Kategorien oder ein Teil der Items lassen sich anpassen.",
    "models.effects_size": "Es gibt zu viele Zufallseffekte: {first} auf der einen Seite und {second} auf der "
    "anderen. Steigungen oder geschachtelte Terme sollten entfallen.",
    "models.one_level": "{group} hat nur eine Stufe, deshalb können seine Effekte nicht variieren.",
    "models.passes": "Die Suche war nicht zu Ende, als die Antworten {n} Mal gelesen waren.",
    "models.sample_tasks": "Die erste Person der Stichprobe hat mehr als {tasks} Items beantwortet. Es müssen mehr "
    "Items erlaubt sein.",
    "models.no_variance": "Weder Personen noch Items variieren, deshalb ist der Anteil nicht definiert.",
    "models.share": "{value:.4}, {level:%-}Intervall von {lower:.4} bis {upper:.4}.",
    "formula.at": "{formula:quoted}, Stelle {position}: {problem}",
    "formula.unexpected": "{text:quoted} ist hier nicht erlaubt.",
    "formula.no_response": "die Antwortvariable fehlt. Die Form ist „response ~ Terme“.",
    "formula.ends": "die Formel endet, wo ein Name erwartet wird.",
    "formula.no_name": "hier wird ein Name erwartet, nicht {text:quoted}.",
    "formula.no_operator": "vor {text:quoted} fehlt ein Operator wie +. Ein Name mit einem Leerzeichen steht in "
    "Backticks, wie in `meine Spalte`.",
    "formula.comparison": "eine Formel kann Werte nicht mit {text:quoted} vergleichen. Das Ergebnis gehört als Spalte "
    "in die Daten.",
    "formula.one_argument": "{function}() hat ein Argument.",
    "formula.scale": "bei scale() lässt sich nur scale = FALSE angeben.",
    "formula.poly": "poly() braucht eine Spalte und einen Grad von 1 bis {most}, wie in poly(x, 2).",
    "formula.poly_values": "{term} braucht mehr als {degree} verschiedene Werte.",
    "formula.counts": "Anzahlen von Antworten können nicht die Antwortvariable sein. Die Daten brauchen eine Zeile je "
    "Antwort.",
    "formula.ordered": "ordered() ist für die Antwortvariable. Für einen Prädiktor steht factor().",
    "formula.as_numeric": "as.numeric() braucht den Namen einer Spalte.",
    "formula.open_bracket": "diese Klammer wird nie geschlossen.",
    "formula.no_meaning": "{text:quoted} hat in einer Formel keine Bedeutung.",
    "formula.random_product": "Zufallsterme werden addiert, wie in (1 | a) + (1 | b), nicht multipliziert.",
    "formula.bare_bar": "Zufallsterme stehen in Klammern, etwa (1 | participant).",
    "formula.number": "eine Zahl ist der Achsenabschnitt, 1 oder 0. Für Arithmetik steht I({number} ...).",
    "formula.several_tildes": "eine Formel hat nur ein ~.",
    "formula.power": "der Exponent einer Formel ist eine ganze Zahl von 1 bis 9.",
    "formula.empty_random": "dieser Zufallsterm ist leer.",
    "formula.group": "eine Gruppe ist eine Spalte oder mehrere, verbunden mit : oder /, wie in (1 | a/b).",
    "formula.response": "die Antwortvariable ist eine Spalte oder aus einer gemacht, etwa log(rt) oder -1000 / rt.",
    "formula.no_function": "es gibt keine Funktion {function:quoted}. Bekannt sind {known}. Alles andere lässt sich "
    "vorher als Spalte berechnen.",
    "formula.factor": "factor() braucht den Namen einer Spalte.",
    "formula.arithmetic": "{operator:quoted} ist keine Arithmetik. Eine Funktion kann + - * / und ^ enthalten.",
    "formula.no_column_read": "{term} verwendet keine Spalte.",
    "formula.no_column_close": "es gibt keine Spalte {column:quoted}. Ist {close:quoted} gemeint?",
    "formula.no_column": "es gibt keine Spalte {column:quoted}. Es gibt {known}.",
    "formula.not_numeric": "{column} ist nicht numerisch, deshalb lässt sich damit nicht rechnen.",
    "formula.nested": "{function}() kann nicht in einer anderen Funktion stehen.",
    "frame.shape": "{column} muss einen Wert je Zeile haben, hat aber die Form {shape}.",
    "frame.type": "{column} hat den Typ {type}. Ein Faktor besteht aus Text, Zahlen oder Wahrheitswerten.",
    "frame.unknown_levels": "{column} enthält {unknown}, was nicht zu den Stufen gehört: {levels}.",
    "frame.no_rows": "Es bleibt keine Zeile übrig.[[ {why}]]",
    "frame.left_out": "{n} von {rows} Zeilen {n:wurde|wurden} ausgelassen: {causes}.",
    "frame.missing": "{column} fehlt in {n}",
    "frame.unknown_column": "levels nennt {column:quoted}, was keine Spalte der Daten ist.",
    "frame.lengths": "Die Spalten sind verschieden lang: {columns}.",
    "design.dropped": "Ausgelassen, weil andere Spalten {n:sie|sie} bestimmen: {columns}.[[ {empty}]]",
    "design.empty": "Keine Zeile hat {cells:or}[[ (und {more} weitere)]].",
    "design.one_level": "{factor} hat nur eine Stufe, {levels}, und kann deshalb keinen Effekt haben.",
    "design.sum_coding": "Faktoren sind summenkodiert: {columns}.",
    "design.treatment_coding": "Faktoren sind treatmentkodiert: {columns}.",
    "design.deviation": "{column} ist {level} minus Mittelwert",
    "design.compared": "{factor} wird mit {level} verglichen",
    "model.no_random": "{formula:quoted} hat keine Zufallseffekte. Nötig ist einer, etwa (1 | participant).",
    "model.effect_twice": "{formula:quoted}: {effect} für {group} steht in zwei Zufallstermen. In einem davon muss "
    "er entfallen.",
    "model.no_intercept": "{formula:quoted}: Der Achsenabschnitt geordneter Antworten lässt sich nicht entfernen, "
    "weil Schwellen an seiner Stelle stehen.",
    "model.no_order": "Die Antworten {answers} haben keine Reihenfolge. Sie lässt sich, die niedrigste zuerst, mit "
    "levels={{\"{response}\": [...]}} angeben.",
    "model.not_numeric": "{response} ist ein Faktor, gemessene Antworten sind aber Zahlen.",
    "model.not_binary": "{response} hat {n} {n:Antwort|verschiedene Antworten}, {answers}; ein binäres Modell braucht "
    "zwei.",
    "model.probability": "Das Modell beschreibt die Wahrscheinlichkeit von {answer}.",
    "model.no_standard_error": "{name}: {estimate} (SE unbekannt)",
    "wald.tests": "Typ-III-Tests der Terme.",
    "wald.f": "F({df}[[; {denominator:df}]])[[ = {statistic:.2}]][[, p {p:p}]]",
    "wald.treatment": "Bei Treatmentkodierung werden Terme, die Teil einer Interaktion sind, auf den ersten Stufen "
    "der beteiligten Faktoren getestet (einfache Effekte). Für Haupteffekte eignet sich die Summenkodierung.",
    "wald.covariates": "Terme, die mit {names:and} interagieren, werden dort getestet, wo {n:diese Variable 0 "
    "ist|diese Variablen 0 sind}.",
    "wald.dropped": "Spalten wurden ausgelassen, deshalb sind nicht alle Terme Mittel über alle Zellen. Die Tests "
    "sind mit Vorsicht zu lesen.",
    "wald.no_intercept": "Ohne Achsenabschnitt prüft der Test des ersten Faktors, ob alle seine Mittelwerte 0 sind.",
    "wald.not_converged": "{formula:quoted} ist nicht konvergiert.",
    "wald.mixture": "Eine Varianz kann nicht unter null liegen, deshalb stammt p aus einer Mischung von χ² zu gleichen "
    "Teilen mit {first} und {second} Freiheitsgraden.",
    "wald.boundary": "Eine Varianz wird bei null getestet, ihrem kleinsten möglichen Wert; das wahre p ist deshalb "
    "kleiner.",
    "wald.reml": "Verglichen werden REML-Kriterien; die festen Effekte sind gleich.",
    "marginal.link": "Geschätzte Randmittel auf der Skala der Linkfunktion.",
    "marginal.response": "Geschätzte Randmittel auf der Skala der Antworten.",
    "marginal.mean": "{cell}:[[ {mean}]][[ ({level:%-}Intervall {lower}]][[ bis {upper})]]",
    "marginal.differences": "Differenzen der Randmittel mit Holm-Korrektur.",
    "marginal.difference": "{pair}:[[ {estimate}]][[ (SE {se}]][[, korrigiertes p {p:p})]]",
    "marginal.no_factor": "{name:quoted} ist kein Faktor von {formula:quoted}. Faktoren sind {factors}.",
    "marginal.no_covariate": "`at` nennt {name:quoted}, was keine Kovariate von {formula:quoted} ist.",
    "marginal.both": "{names} ist in {formula:quoted} zugleich Faktor und Zahl. Eines davon braucht eine eigene "
    "Spalte.",
    "marginal.held": "{name} ist auf {value} festgehalten.",
    "marginal.unknown": "{n} von {means} Mittelwerten lassen sich nicht schätzen, weil Zellen des Designs leer sind.",
    "intervals.wald": "Wald-Intervalle, {level:%}.",
    "intervals.profile": "Profilintervalle, {level:%}.",
    "intervals.interval": "{name}: {estimate}[[ ({lower}]][[ bis {upper})]]",
    "intervals.likelihood": "Schätzungen und Profile beruhen auf Maximum Likelihood.",
    "intervals.open": "Die Likelihood begrenzt {names:and} nicht.",
    "intervals.not_converged": "Ein Modell, das nicht konvergiert ist, hat kein Profil. {convergence}",
    "fit.binary": "binäre",
    "fit.ordinal": "geordnete",
    "fit.gaussian": "gemessene",
    "fit.workers": "Personen",
    "fit.tasks": "Items",
    "fit.cells": "Person-Item-Paare",
    "fit.residuals": "Residuen",
    "fit.mixed": "{n} {kind} Antworten, {groups:and}: Standardabweichungen {deviations}; Log-Likelihood {value:.3}.",
    "fit.mixed_reml": "{n} {kind} Antworten, {groups:and}: Standardabweichungen {deviations}; logarithmiertes "
    "REML-Kriterium {value:.3}.",
    "fit.levels": "{n} Stufen von {group}",
    "fit.residual": "Residuum[[ {value}]]",
    "fit.crossed": "{n} {kind} Antworten von {workers} Personen auf {tasks} Items: Varianzen {variances}; "
    "Log-Likelihood {value:.3}.",
    "fit.crossed_reml": "{n} {kind} Antworten von {workers} Personen auf {tasks} Items: Varianzen {variances}; "
    "logarithmiertes REML-Kriterium {value:.3}.",
    "fit.nominal": "{n} nominale Antworten von {workers} Personen auf {tasks} Items in {categories} Kategorien "
    "(Referenz {baseline}): Varianzen der Personen {worker_variances}, der Items {task_variances}; Log-Likelihood "
    "{value:.3}.",
    "fit.converged": "Die Anpassung konvergierte nach {evaluations} Auswertungen: Der Gradient ist höchstens "
    "{gradient}, das halbe quadrierte Newton-Dekrement {decrement}, und die Hesse-Matrix ist positiv definit.",
    "fit.not_converged": "Die Anpassung konvergierte in {evaluations} Auswertungen nicht: {reason}. Der Gradient ist "
    "höchstens[[ {gradient}]][[, das halbe quadrierte Newton-Dekrement {decrement}]].",
    "fit.converged_scaled": "Die Anpassung konvergierte nach {evaluations} Auswertungen: Der Gradient ist höchstens "
    "{gradient} je Standardfehler, das halbe quadrierte Newton-Dekrement {decrement}, und die Hesse-Matrix ist "
    "positiv definit.",
    "fit.not_converged_scaled": "Die Anpassung konvergierte in {evaluations} Auswertungen nicht: {reason}. Der "
    "Gradient ist höchstens[[ {gradient} je Standardfehler]][[, das halbe quadrierte Newton-Dekrement {decrement}]].",
    "fit.reason_stopped": "die Suche endete zu früh",
    "fit.reason_hessian": "die Hesse-Matrix ist nicht positiv definit",
    "fit.reason_flat": "die Daten bestimmen {names:and} nicht",
    "fit.reason_beside": "die Likelihood ließ sich nahe dem Ende der Suche nicht berechnen",
    "fit.reason_modes": "die Modi der Effekte wurden nicht gefunden",
    "fit.reason_covariances": "das Design bestimmt die Kovarianzen von {groups:and} nicht",
    "fit.reason_separated": "die Likelihood hat kein Maximum, weil die Antworten vollständig getrennt sind",
    "fit.reason_column": "der Koeffizient von Spalte {column} wächst unbegrenzt, weil die Spalte die Antworten trennt",
    "fit.reason_variance": "die Varianz der {group} wächst unbegrenzt, weil fast alle davon durchweg "
    "dieselbe Antwort haben",
    "fit.reason_category": "eine Varianz wächst unbegrenzt, weil fast alle Personen oder Items eine Kategorie immer "
    "oder nie haben",
    "fit.zero_variance": "Die Anpassung ist singulär: Die Varianz von {effects} für {group} ist null.",
    "fit.zero_group": "Die Anpassung ist singulär: Die Varianz der {group} ist null.",
    "fit.zero_category": "Die Anpassung ist singulär: Die Varianz der {group} in {category} ist null.",
    "fit.correlated": "Die Anpassung ist singulär: {effects:and} für {group} haben eine Korrelation von "
    "{correlation:.0}.",
    "fit.directions": "Die Anpassung ist singulär: Die Effekte von {group} variieren in {rank} von {effects} "
    "Richtungen. In Standardabweichungen hat {mixture} keine Varianz.",
    "fit.separated": "{n:Der Koeffizient|Die Koeffizienten} von {names} {n:lässt|lassen} sich nicht schätzen, weil "
    "die Antworten vollständig getrennt sind.",
    "fit.unbounded_effects": "Die Standardabweichung der Effekte von {group} wächst unbegrenzt.",
    "fit.one_answer_per_level": "{group} hat eine Antwort je Stufe, deshalb ist seine Varianz nicht identifiziert.",
    "fit.same_answers": "Bei {n} von {levels} Stufen von {group} sind alle Antworten gleich.",
    "fit.same_answer_workers": "{n} von {workers} Personen gaben immer dieselbe Antwort.",
    "fit.cells_not_identified": "Die Varianz der Person-Item-Paare ist nicht identifiziert, weil jedes eine Antwort "
    "hat. Siehe `interaction_profile`.",
    "fit.sampled": "Es gibt {all_tasks} Items, mehr als die {limit}, deren Effekte sich zugleich schätzen lassen. "
    "Das Modell ist deshalb an {n} Antworten von {workers} der {all_workers} Personen angepasst, zufällig gezogen "
    "(Startwert {seed}), auf {tasks} Items.",
    "fit.without_correlations": "{term} war singulär, deshalb entfielen die Korrelationen: {rest}.",
    "fit.without_term": "{term} hatte keine Varianz und entfiel deshalb.",
    "fit.without_effect": "{effect} für {group} hatte keine Varianz und entfiel deshalb: {rest}.",
    "fit.still_singular": "Das Modell ist noch singulär, aber es kann nichts weiter entfallen.",
    "profile.best": "Von den erprobten Standardabweichungen der Person-Item-Paare hat {best} die höchste "
    "Log-Likelihood. Sie ist niedriger um {drops}.",
    "profile.drop": "{drop:.1} bei {deviation}",
    "profile.not_identified": "Mit einer Antwort je Paar ist die Standardabweichung nicht identifiziert.",
    "profile.not_converged": "Nicht jeder Punkt konvergierte.",
    "refits.worker": "Person",
    "refits.task": "Item",
    "refits.ended": "Das Modell wurde {n} Mal neu angepasst, jeweils ohne eine Einheit ({group}). {failed} dieser "
    "Anpassungen konvergierten nicht; das halbe quadrierte Newton-Dekrement ist höchstens {decrement}.",
    "refits.distances": "Der Devianzabstand beträgt im Mittel {mean:.1} und ist am größten für {group} Nummer "
    "{number}, {largest:.1}.",
    # ==================== judgments ====================
    "stimuli.conditions": "Stimuli sind Items in den Stufen von {names:and}. --conditions nennt andere.",
    "stimuli.people": "Nicht als Bedingung gewertet: {names:and}, weil die Werte bei keiner Person wechseln.",
    "stimuli.shown": "Nicht als Bedingung gewertet: {names:and}, weil die Werte von der gezeigten Seite oder Polung "
    "abhängen.",
    "stimuli.derived": "Nicht als Bedingung gewertet: {names:and}, weil die Werte aus den Antworten folgen.",
    "stimuli.numbers": "Nicht als Bedingung gewertet: {names:and}, weil das Design diese Zahlen nicht festlegt.",
    "stimuli.measurements": "Nicht als Bedingung gewertet: {names:and}, weil sonst kaum zwei Personen denselben "
    "Stimulus hätten.",
    "order.needed": "Die Reihenfolge der Trials ist unbekannt. Nötig ist eine Spalte `trial` mit der Position jedes "
    "Trials (oder `time`). Stehen die Zeilen in der gezeigten Reihenfolge, hilft --rows-in-order (in Python "
    "Judgments.with_row_order()).",
    "order.rows_in_order": "Die Zeilen aller Teilnehmenden stehen laut Angabe in der gezeigten Reihenfolge.",
    "order.by_time": "Es gibt keine Spalte `trial`; Trials sind nach dem Zeitpunkt der Antwort geordnet, bei gleichen "
    "oder fehlenden Zeitpunkten nach Zeilen.",
    "order.unknown": "Es gibt weder eine Spalte `trial` noch `time`; Trials sind nach Zeilen nummeriert. Ihre "
    "Reihenfolge ist unbekannt.",
    "order.no_sequences": "Es gibt weder eine Spalte `trial` noch `time`; die Reihenfolge der Trials ist unbekannt. "
    "Antwortmuster und Wechsel im Verlauf des Fragebogens bleiben unberücksichtigt. Mit einer Spalte `trial` werden "
    "sie einbezogen.",
    "answers.not_ordered": "{name} braucht Antworten auf einer geordneten Skala (Ratings, Schieberegler, Magnituden, "
    "ja oder nein). Die Antworten stehen hier auf einer anderen Skala ({kinds:and}).",
    "answers.standardised": "Die Fragen haben verschiedene Skalen; Positionen sind je Skala standardisiert.",
    "answers.unordered_left_out": "{n:answer} auf Skalen ohne Reihenfolge {n:blieb|blieben} unberücksichtigt.",
    "answers.no_score": "{n:participant} ohne Wert; der Grund steht jeweils dabei.",
    "rated.functions": "`functions` muss aus {known} gewählt sein, nicht {given}.",
    "rated.no_answers": "Es gibt keine Antworten auf Trials mit der Funktion {functions:or}[[, nur mit "
    "{answered:and}. Andere lassen sich mit functions=[...] angeben]].",
    "rated.several_questions": "Die Antworten gehören zu {n:question}. Mit question=... lässt sich eine wählen: "
    "{known}.",
    "rated.no_question": "Es gibt keine Antworten auf die Frage {question}.[[ Gemeint ist vielleicht {close}.]][[ Mit "
    "question=... lässt sich eine von diesen wählen: {known}.]]",
    "rated.no_column": "Es gibt keine Spalte {column}.[[ Gemeint ist vielleicht {close}.]]",
    "rated.second_answers": "{n:answer} {n:blieb|blieben} unberücksichtigt, weil dieselbe Person den Stimulus schon "
    "beurteilt hatte.",
    "ratings.summary": "Ratings: [[{cases:case}]][[{texts:text}]], {pairs:pair}, {participants:participant}[[; es "
    "{missing:fehlt|fehlen} {missing:rating}]].",
    "ratings.no_pair": "Es gibt kein Paar {pair}; vorhanden sind {known:and}.",
    "ratings.unit": "Die Einheit einer Rating-Matrix ist \"case\" oder \"text\", nicht {unit:quoted}.",
    "ratings.averaged": "{n:rating} mehrfach erfragt; die Antworten wurden gemittelt.",
    "ratings.one_pair": "Eine Rating-Matrix braucht mindestens zwei Paare; die Spalte question hat nur eines.",
    "ratings.pair_name": "Ein Paar kann nicht {pair} heißen, weil eine Spalte so heißt. Die Frage braucht einen "
    "anderen Namen.",
    "ratings.dependent_cases": "{cases:case} von {participants:participant} sind nicht unabhängig voneinander; Tests, "
    "die das annehmen, verwerfen zu oft. In Python zieht factor_intervals Personen.",
    "ratings.no_questions": "Ein semantisches Differential braucht die Spalte question, die das beurteilte Paar nennt.",
    "ratings.no_polarity": "Es gibt keine Spalte polarity; alle Paare gelten als gleich herum gezeigt.",
    "ratings.polarity_missing": "{n:answer} ohne Polung {n:gilt|gelten} als auf die übliche Weise gezeigt.",
    "ratings.no_scale": "Die Frage {question} hat keine Skala.",
    "ratings.different_scales": "Die Paare haben verschiedene Skalen. Korrelationen bleiben davon unberührt, "
    "Mittelwerte von Paaren sind nicht vergleichbar.",
    "ratings.no_numbers": "Antworten auf einer Skala der Art {kind} haben keine Zahlen; ein Rating braucht geordnete "
    "Punkte.",
    # ==================== intake ====================
    "file.encoding": "{file} ist nicht in UTF-8 und wurde als {encoding} gelesen. Falls das falsch ist: --encoding.",
    "file.column_twice": "Die Spalte {column} kommt zweimal vor; die zweite heißt hier {copy}.",
    "file.title": "{file}: Was über der Kopfzeile steht, wurde weggelassen: {texts}.",
    "file.sheets": "{file}: {n} Tabellenblätter mit denselben Spalten wurden gelesen: {sheets}. Für eines "
    "allein: --sheet.",
    "file.column_again": "Die Spalte {column} kommt {n}-mal vor; alle nach der ersten heißen hier {copy} bis {last}.",
    "file.sheet": "{file}: Das Tabellenblatt {sheet} wurde gelesen. Für ein anderes ({others}): --sheet.",
    "file.failed_formulas": "{file}: {n} {n:Zelle|Zellen} mit einem Fehler der Tabellenkalkulation (zuerst in Zeile "
    "{row}, {sign}) {n:wird|werden} als leer gelesen. Zur Behebung die Formel korrigieren und die Tabelle neu "
    "exportieren.",
    "rows.line": "{n:Zeile|Zeilen} {numbers}[[ und {more} weitere bis {last}]]",
    "rows.row": "{n:Tabellenzeile|Tabellenzeilen} {numbers}[[ und {more} weitere bis {last}]]",
    "rows.element": "{n:Element|Elemente} {numbers}[[ und {more} weitere bis {last}]]",
    "rows.other": "{place} {numbers}[[ und {more} weitere bis {last}]]",
    "list.names": "{names}[[ und {more} weitere]]",
    "unit.rows": "Zeilen",
    "unit.cells": "Zellen",
    "unit.results": "Ergebnissen",
    "unit.answers_and_rows": "Antworten und Zeilen",
    "column.overlooked": "{column} sieht nach {name} aus. Um die Spalte so zu lesen: --map {name}={column}.",
    "column.nested": "Ausgelassen {n:wurde die Spalte|wurden die Spalten} {columns}; {n:sie enthält|sie enthalten} "
    "{kinds:word}.",
    "participant.column": "{column} gilt als Teilnehmerkennung. Für eine andere Spalte: --map participant=NAME.",
    "item.column": "{column} gilt als Item. Für eine andere Spalte: --map item=NAME.",
    "trial.negative": "{column} ist in {n} {n:Zeile|Zeilen} negativ: Diese Trials werden als Übung gelesen.",
    "trial.from_zero": "{column} zählt ab 0; zu jedem Trial wurde eins addiert.",
    "time.no_zone": "{n} von {times} {times:Zeitangabe|Zeitangaben} {n:hat|haben} keine Zeitzone (zuerst [[{file}, "
    "]]{row}) und {n:gilt|gelten} als UTC.",
    "personal.left_out": "[[{file}: ]]{n:Die Spalte|Die Spalten} {columns} {n:wurde|wurden} ausgelassen, weil "
    "{n:sie Personen erkennen lässt|sie Personen erkennen lassen}.",
    "personal.left_out_unless_mapped": "{file}: {n:Die Spalte|Die Spalten} {columns} {n:wurde|wurden} ausgelassen, "
    "weil {n:sie Personen erkennen lässt|sie Personen erkennen lassen}. Um eine Spalte zu behalten: --map NAME=NAME.",
    "annotators.renamed": "E-Mail-Adressen sind personenbezogene Daten und wurden ausgelassen. {n} {n:Person, von "
    "der|Personen, von denen} nur eine Adresse bekannt ist, {n:erhielt|erhielten} einen anderen Namen (annotator_1 "
    "und so weiter, in der Reihenfolge des Auftretens).",
    "rt.long": "Antwortzeiten (rt) gelten als Sekunden, aber die Hälfte liegt über {median:.0}. Falls es "
    "Millisekunden sind, durch 1000 teilen (bei einer Datei: --rt-unit ms).",
    "rt.named_milliseconds": "{column} wird wegen des Namens in Millisekunden gelesen. Falls es Sekunden sind: "
    "--rt-unit s.",
    "rt.named_seconds": "{column} wird wegen des Namens in Sekunden gelesen. Falls es Millisekunden sind: --rt-unit "
    "ms.",
    "rt.milliseconds": "{column} wird in Millisekunden gelesen, weil der Median {median} ist. Falls es Sekunden "
    "sind: --rt-unit s.",
    "rt.below_zero": "{n:response time} unter 0 {n:ist|sind} weggelassen.",
    "rt.seconds": "{column} wird in Sekunden gelesen, weil der Median {median} ist. Falls es Millisekunden sind: "
    "--rt-unit ms.",
    "scale.no_answers": "Es gibt keine Antworten[[ auf {question}]]; die Skala ist unbekannt und gilt als binär. "
    "Falls das falsch ist: --scale.",
    "scale.choice": "Die Antworten[[ auf {question}]] sind left und right (oder none) und werden als Auswahl "
    "gelesen. Falls das falsch ist: --scale.",
    "scale.sides": "Die Antworten nennen das linke oder das rechte Item und werden als Auswahl gelesen. Falls das "
    "falsch ist: --scale.",
    "scale.binary": "Die Antworten[[ auf {question}]] sind {answers:and} und werden als binär gelesen. Falls das "
    "falsch ist: --scale.",
    "scale.one_answer": "Alle Antworten[[ auf {question}]] sind {answer:quoted}; {other:quoted} steht für "
    "Antworten, die niemand gab. Um sie zu benennen: --scale nominal:{answer},...",
    "scale.nominal": "Die Antworten[[ auf {question}]] sind {n} verschiedene Texte[[ ({only} nur als richtige "
    "Antwort)]] und werden als nominal gelesen. Falls das falsch ist: --scale.",
    "scale.points": "Die Antworten[[ auf {question}]] sind ganze Zahlen bis {high} und werden als Punkte {low} bis "
    "{high} einer Ratingskala gelesen. Falls die Skala mehr Punkte hat: --scale.[[ Falls die Zahlen für Kategorien "
    "stehen: --scale nominal:{codes}.]]",
    "scale.codes": "Die Antworten[[ auf {question}]] sind ganze Zahlen von {low} bis {high}, aber Personen, die sich "
    "über ein Item uneinig sind, liegen nicht näher beieinander als zufällig. Die Zahlen werden deshalb als Labels "
    "gelesen. Falls sie Punkte einer Ratingskala sind: --scale ordinal:{low}-{high}.",
    "scale.symmetric": "Die Antworten[[ auf {question}]] sind ganze Zahlen und werden als Punkte {low} bis {high} "
    "einer Ratingskala gelesen, nicht als Präferenz für eine von zwei Seiten. Falls sie Präferenzen sind, die Spalten "
    "der beiden Seiten nennen: --map left=NAME --map right=NAME. Falls die Skala eine andere ist: --scale.",
    "scale.continuous": "Die Antworten[[ auf {question}]] sind Zahlen von {low} bis {high} und werden als "
    "kontinuierlich gelesen. Falls das falsch ist: --scale.",
    "intake.read": "{file} wurde gelesen ({title}).",
    "intake.set_aside": "{n} von {units_in} {unit} {n:ist kein Urteil und wurde|sind keine Urteile und wurden} "
    "beiseitegelegt: {reasons:and}.",
    "intake.skipped": "{n} von {units_in} {unit} {n:war|waren} nicht lesbar und {n:wurde|wurden} ausgelassen: "
    "{reasons:and}.",
    "table.columns": "Diese Spalten wurden an ihren Namen erkannt: {columns}. Falls eine falsch ist: --map.",
    "table.whole_numbers": "Antworten wie {answer} werden als ganze Zahlen gelesen.",
    "table.missing": "{n} {n:Antwort|Antworten} {words:or} {n:gilt|gelten} als fehlend.",
    "table.decimal_commas": "Kommas in {columns} werden als Dezimalzeichen gelesen. Falls das falsch ist: --decimal .",
    "role.empty_participant": "{column} ist in {share} % der Zeilen leer, deshalb bezeichnet {used} die Teilnehmenden.",
    "role.functions": "Die Itemfunktionen stammen aus {column}: {functions}. Mit --map function= entfällt das.",
    "role.no_function": "{column} hat {n} {n:Wert|Werte} wie {values:and}, die keine Itemfunktionen sind, und wird "
    "als Bedingung gelesen.",
    "role.no_position": "{column} enthält {values:and}, keine Positionen, und wird als Bedingung gelesen.",
    "role.other_content": "{column} enthält {values:and}, was karat unter diesem Namen nicht versteht, und wird als "
    "Bedingung gelesen.",
    "role.filled_items": "Bei {n} Antworten zu Items, die keine Testitems sind, ist {column} leer; {other} benennt "
    "diese Items.",
    "role.dimension": "{column} gilt als Frage, weil darin steht, was jede Person bewertet hat.",
    "role.question": "{column} wird als Frage gelesen, weil jede ihrer Stufen zu denselben Items beantwortet wurde. "
    "Mit --map question= entfällt das.",
    "role.scales": "{column} wird als Frage gelesen, weil ihre Stufen auf verschiedenen Skalen beantwortet wurden. "
    "Mit --map question= entfällt das.",
    "role.session": "Einige Teilnehmende haben dieselbe Trialnummer mehrfach. {column} hält ihre Sitzungen "
    "auseinander.",
    "role.runs": "Bei {n} Teilnehmenden kommen dieselben Trialnummern mehrfach vor; ihre Zeilen werden als mehrere "
    "Sitzungen gelesen.",
    "role.restarts": "{column} beginnt bei denselben Teilnehmenden von vorn, deshalb werden Trials in der "
    "Reihenfolge der Zeilen gezählt.",
    "role.practice_order": "In {column} haben mehrere Übungstrials dieselbe Position; sie werden in der Reihenfolge "
    "der Zeilen gezählt.",
    "role.other_loops": "Zeilen von PsychoPy außerhalb der Schleife {loop} oder ohne Antwort darin (für eine andere "
    "Schleife die Spalte ihrer Antworten nennen: --map response=NAME; --keep-all behält alle Zeilen)",
    "role.no_order": "{column} nummeriert nicht die Trials der Teilnehmenden und wird nicht als Position gelesen.",
    "role.not_trials": "Zeilen ohne Item und Antwort",
    "role.nobody": "Zeilen ohne Teilnehmende",
    "role.not_asked": "Zeilen anderer Aufgaben und Bildschirme (--keep-all behält sie)",
    "role.other_answers": "Zeilen zu Items, die anders als alle übrigen beantwortet sind (--keep-all behält sie)",
    "role.accepted": "Die ersten Vorschläge wurden angenommen: {flags}.",
    "ask.headline": "{file} lässt sich als Urteile lesen, wenn {n:diese Angabe stimmt|diese Angaben stimmen}:",
    "ask.command_only": "Wenn das stimmt, diesen Befehl ausführen; --yes genügt hier nicht:\n  {command}",
    "ask.command": "Wenn das stimmt, diesen Befehl ausführen; --yes statt der Optionen nimmt alle ersten Vorschläge "
    "an:\n  {command}",
    "ask.participant": "Wer hat geantwortet?",
    "ask.item": "Was wurde beurteilt?",
    "ask.response": "Welche Spalte enthält die Antworten?",
    "ask.wide": "Was ist eine Zeile?",
    "ask.answers": "Wie werden die Antworten zusammengefasst?",
    "ask.participant_choice": "{n} verschiedene Werte",
    "ask.item_choice": "{n} Kombinationen[[, jede von {least} bis {most} Teilnehmenden beurteilt]]"
    "[[, jede von {every} {every:Person|Personen} beurteilt]], etwa {sample:and}",
    "ask.response_choice": "{n} verschiedene Werte, etwa {sample:and}",
    "ask.wide_participant": "eine Person; {n} Spalten wie {columns:and} sind Items[[, mit den Fragen {questions:and}]]",
    "ask.wide_item": "ein Item; {n} Spalten sind Teilnehmende",
    "ask.wide_trial": "ein Durchgang; {n} Spalten wie {columns:and} sind Fragen zum Item",
    "ask.one_hot": "ein Durchgang; {n} Spalten wie {columns:and} sind die möglichen Antworten",
    "ask.answers_begin": "{n} Texte, die mit {beginnings:or} beginnen",
    "form.end_labels": "Beschriftungen neben den Punkten der Skala blieben weg: {labels}.",
    "form.comments": "{n} {n:Kommentarzeile|Kommentarzeilen} vor der Kopfzeile {n:wurde|wurden} weggelassen.",
    "form.groups": "Eine Zeile je Person mit {n} nummerierten Gruppen von Spalten wie {columns:and}; jede Gruppe "
    "wird als eigene Zeile gelesen.",
    "form.one_hot": "Jede Zeile hat eine 1 in einer von {n} Spalten wie {columns:and}: Der Name der Spalte gilt als "
    "Antwort.",
    "form.annotators": "Eine Zeile je Item mit {n} nummerierten Paaren von Spalten wie {columns:and} für Person und "
    "Urteil; jedes Paar wird als eigene Zeile gelesen.",
    "form.lists": "Jede Zelle von {columns:and} enthält eine Liste; jedes Element wird als eigene Zeile gelesen.",
    "form.parts": "Jede Zelle von {column} enthält {n} Antworten, gelesen als {columns:and}.",
    "form.wide_participant": "Eine Zeile pro Person: {n} Spalten werden als Items[[ mit den Fragen "
    "{questions:and}]] gelesen[[, Spalten wie {times} als deren Antwortzeiten]].[[ {left} weitere "
    "{left:Spalte beschreibt|Spalten beschreiben} die Teilnehmenden oder {left:wurde|wurden} weggelassen: {names}.]]",
    "form.wide_item": "Eine Zeile pro Item: {n} Spalten werden als Teilnehmende gelesen.[[ {left} enthalten "
    "Mittelwerte und wurden weggelassen.]]",
    "form.shown": "{left} und {right} enthalten, was verglichen wurde. Sonst --map left=NAME und --map right=NAME "
    "verwenden.",
    "form.wide_trial": "Eine Zeile pro Durchgang: {n} Spalten werden als Fragen gelesen, {columns:and}.[[ "
    "{derived:and} fassen diese Antworten nur zusammen und wurden weggelassen.]]",
    "form.sides": "Die Antworten nennen die beiden Seiten und werden so gelesen: {answers}. Wenn das nicht stimmt, "
    "--answers verwenden.",
    "form.graded": "Manche Antworten sagen auch, um wie viel besser eine Seite ist. Wahlen verwenden das nicht.",
    "form.pairs": "Jeder Trial hat zwei Zeilen, von denen eine gewählt wurde, und wird als Wahl gelesen. Die erste "
    "Zeile gilt als links, weil die Datei die Seite nicht nennt.",
    "form.word_rows": "Zeilen zu weiteren Wörtern derselben Trials",
    "form.second_rows": "zweite Zeilen von Wahltrials",
    "form.broken_lines": "{n} {n:Zeilenumbruch|Zeilenumbrüche} in Zellen ohne Anführungszeichen {n:wurde|wurden} "
    "geschlossen.",
    "form.skipped_files": "{n} {n:Datei wurde|Dateien wurden} übersprungen, weil sie keine Ergebnisse {n:ist|sind}: "
    "{files}.",
    "rows.identical": "{n} {n:Zeile gleicht|Zeilen gleichen} einer anderen. Nichts weist sie als Kopien aus, deshalb "
    "zählen sie als Antworten.",
    "scale.magnitude": "Die Antworten[[ auf {question}]] sind positive Zahlen von {low} bis {high} ohne erkennbare "
    "Obergrenze und werden als Größenschätzungen gelesen.[[ {zeros}]] Wenn das nicht stimmt, --scale verwenden.",
    "scale.magnitude_zeros": "{n:answer} {n:ist|sind} 0 und {n:hat|haben} damit keinen Logarithmus: In den Maßen "
    "{n:zählt sie|zählen sie} als die Hälfte der kleinsten positiven Antwort, {half}.",
    "item.without_speakers": "Der Text jedes Trials ist sein Item, ohne die Namen der Sprechenden, die zwischen "
    "Teilnehmenden wechseln: Es bleiben {n} Items.",
    "jspsych.judgments_only": "{n} Antworten sehen nach Weiterklicken oder Fragebogen aus und wurden beiseitegelegt. "
    "Mit --keep-all bleiben sie erhalten.",
    "aside.owner": "Zeilen von Durchläufen, in denen die Versuchsleitung angemeldet war",
    "intake.item_parts": "Keine Spalte ist ein Faktor des Designs, und alle Items heißen wie {item}; {columns:and} "
    "{n:enthält|enthalten} Teile dieser Namen.",
    "intake.models": "{names} {n:ist nach einem Sprachmodell|sind nach Sprachmodellen} benannt und {n:zählt|zählen} "
    "als Teilnehmende. Um {n:es|sie} auszulassen: --set-apart {flag}.",
    "intake.factors": "{names:and} {n:ist|sind} dem Anschein nach {n:der Faktor|die Faktoren} des Designs. Andere "
    "lassen sich in karat measure und karat report angeben: --conditions NAME,NAME.",
    "intake.remembered": "Die Angaben aus {file} wurden verwendet.",
    "scale.ordered": "Die Antworten[[ auf {question}]] sind geordnete Wörter und werden als die Punkte {levels} "
    "einer Skala gelesen. Wenn das nicht stimmt, --scale nominal:{text} verwenden.",
    "crowdkit.unanswered_tasks": "Zu {n} {n:Aufgabe|Aufgaben} gibt es eine richtige Antwort, aber keine gegebene.",
    "eligibility_screening.no_function": "{file} hat keine Spalte ITEM_FUNCTION; die Items darin gelten als "
    "Test-Items.",
    "eligibility_screening.times": "In diesen Dateien ist rt in Millisekunden angegeben, und trial ist trial_index "
    "+ 1.",
    "eligibility_screening.choices": "Die oben gezeigte Alternative gilt als linke, die untere als rechte. Bei "
    "Füllern wird Bedingung 1 erwartet.",
    "eligibility_screening.ratings": "Bei Füllern wird 3-5 in Bedingung 1 (grammatisch) und 1-2 in Bedingung 2 "
    "(ungrammatisch) erwartet. Um das auszulassen: --map expected=",
    "eligibility_screening.both": "Auswahl und Bewertung sind getrennte Fragen. Bitte prüfen, ob gleiche Kennungen "
    "in beiden dieselbe Person bezeichnen.",
    "gorilla.questionnaire": "{file} ist ein Fragebogen; die Antworten beschreiben die Teilnehmenden. Falls es "
    "Urteile sind: --from table.",
    "gorilla.function": "function stammt von Displays, die nach practice, filler oder attention benannt sind. Um "
    "das rückgängig zu machen: --map function=",
    "gorilla.milliseconds": "Reaction Time wird in Millisekunden gelesen. Falls es Sekunden sind: --rt-unit s.",
    "gorilla.questions_by_screen": "Manche Trials haben mehrere Antworten; question ist der Name des Bildschirms.",
    "gorilla.questions_by_object": "Manche Trials haben mehrere Antworten; question ist der Name der Zone oder des "
    "Objekts.",
    "gorilla.questions_by_screen_and_object": "Manche Trials haben mehrere Antworten; question ist der Name des "
    "Bildschirms und der Zone oder des Objekts.",
    "gorilla.attempts": "Wurde eine Frage in mehreren Versuchen beantwortet, zählt der erste.",
    "gorilla.public_ids": "Teilnehmende sind nach ihrer öffentlichen Kennung benannt, der von Prolific.",
    "gorilla.private_ids": "Teilnehmende sind nach ihrer privaten Kennung benannt. Öffentliche Kennungen wurden "
    "ausgelassen, weil sie Personen erkennen lassen.",
    "pcibex.single_questions": "{names}: einmal je Person gefragt, daher keine Urteile. Auswahlantworten stehen in "
    "der Tabelle der Teilnehmenden; Getipptes wurde ausgelassen, weil es Personen erkennen lässt.",
    "pcibex.participant_column": "Teilnehmende werden an {column} erkannt. Für eine andere Spalte: --map "
    "participant=NAME.",
    "pcibex.participants_without_code": "{n} {n:Einsendung|Einsendungen} ohne Code in {column} {n:wird|werden} an "
    "Empfangszeit und Hash der Adresse erkannt. Falls eine Spalte die Teilnehmenden nennt: --map participant=NAME.",
    "pcibex.participants_by_hash": "Teilnehmende werden an Empfangszeit und Hash ihrer Adresse erkannt. Falls eine "
    "Spalte sie nennt: --map participant=NAME.",
    "pcibex.sessions": "Manche nahmen mehrmals teil; session nummeriert die Teilnahmen.",
    "pcibex.no_comments": "Der Datei fehlen die Kommentarzeilen mit den Namen der Spalten; angenommen werden die "
    "Spalten, die Ibex selbst schreibt.",
    "pcibex.function": "function stammt von Labels, die practice, filler oder attention nennen. Um das rückgängig "
    "zu machen: --map function=",
    "pcibex.questions": "Manche Trials haben mehrere Antworten; question ist der Name des Elements.",
    "pcibex.sides": "left und right stammen aus den Kommentaren der Selektoren. Um die Namen als Antworten zu "
    "behalten: --map left= --map right=",
    "pcibex.items_by_label": "Items ohne protokollierte Nummer sind nach Label und Latin-Square-Gruppe oder "
    "Ordnungsnummer benannt. Falls eine Spalte sie nennt: --map item=NAME.",
    "pcibex.list": "list ist die protokollierte Spalte Group. Für eine andere Spalte: --map list=NAME.",
    "pcibex.rt_from_display": "Bei {n:answer} läuft rt ab der letzten protokollierten Anzeige vor der Antwort.",
    "pcibex.rt_from_start": "Bei {n:answer} ohne protokollierte Anzeige läuft rt ab dem Beginn des Trials.",
    "jatos.no_metadata": "{file} hat keine metadata.json; Worker-IDs und Studienzustände sind unbekannt.",
    "jatos.other_files": "{n} weitere {n:Datei|Dateien} in {file}, etwa Uploads, {n:wurde|wurden} nicht gelesen.",
    "jatos.participant_in_link": "{name} aus dem Link gilt als Teilnehmerkennung. Für eine andere Spalte: --map "
    "participant=NAME.",
    "jatos.worker_ids": "Die Worker-ID von JATOS gilt als Teilnehmerkennung. Für eine andere Spalte: --map "
    "participant=NAME.",
    "jatos.result_numbers": "Die Nummer des Studienergebnisses gilt als Teilnehmerkennung. Für eine andere Spalte: "
    "--map participant=NAME.",
    "jatos.plain_text": "{file}: Jedes Ergebnis gilt als eine Person, sofern keine Spalte anderes angibt. Das "
    "Ergebnisarchiv enthält mehr Angaben.",
    "jatos.unfinished": "{n} von {results} Studienergebnissen {n:ist|sind} unvollständig: {names}. Die Antworten "
    "bleiben enthalten; study_state der Teilnehmenden zeigt, welche es sind.",
    "jatos.several_results": "Es gibt mehr als ein Studienergebnis von {names}. Die Spalte study_result "
    "unterscheidet sie (--map session=study_result).",
    "jspsych.one_participant_per_file": "Eine Datei ohne Teilnehmerspalte gilt als eine Person, benannt nach der "
    "Datei. Falls eine Spalte sie nennt: --map participant=NAME.",
    "jspsych.participants_by_run": "{file}: Keine Spalte nennt die Person zu {n} {n:Durchgang|Durchgängen}. Eine "
    "neue Person beginnt, wo die Durchgänge neu beginnen, mit dem Namen {file}-1 und so weiter. Falls eine Spalte sie "
    "nennt: --map participant=NAME.",
    "jspsych.expected": "{column} gilt als richtige Antwort. Falls das falsch ist: --map expected=",
    "jspsych.expected_refused": "{column} enthält Werte, die niemand antwortete, und gilt nicht als richtige "
    "Antwort. Um sie trotzdem zu verwenden: --map expected={source} mit --scale.",
    "jspsych.function": "function stammt aus {column}, wo practice, filler oder attention genannt sind. Um das "
    "rückgängig zu machen: --map function=",
    "jspsych.renamed": "{names} {n:hat|haben} in karat eine andere Bedeutung und {n:heißt|heißen} hier {columns}. "
    "Falls die Bedeutung dieselbe ist: --map {name}={column}.",
    "jspsych.points_from_zero": "Die Antworten[[ auf {question}]] zählen ab 0 und werden als Punkte 0 bis {high} "
    "einer Ratingskala gelesen. Falls die Skala mehr Punkte hat: --scale ordinal:0-{next}.",
    "jspsych.categories": "Die Buttons {labels} werden als Kategorien gelesen. Falls sie geordnet sind: --scale "
    "ordinal:{levels}.",
    "jspsych.ways": "Es wurde auf {n} Arten geantwortet ({ways}). Jede ist eine Frage mit eigener Skala.",
    "jspsych.starts_again": "trial_index beginnt neu bei {names}; die Trials werden in der Reihenfolge der Datei "
    "nummeriert. Um zwei Durchgänge zu trennen: --map session=NAME.",
    "jspsych.milliseconds": "rt wird in Millisekunden gelesen, wie jsPsych es schreibt. Falls es Sekunden sind: "
    "--rt-unit s.",
    "jspsych.page_times": "Auf einer Seite mit mehreren Fragen ist rt die Zeit der ganzen Seite. Um sie "
    "auszulassen: --map rt=",
    "jspsych.items_by_stimulus": "Keine Spalte nennt die Items; als Item gilt der Stimulus ohne HTML-Tags, auch bei "
    "beantworteten Begrüßungs- und anderen Seiten. Falls eine Spalte die Items nennt: --map item=NAME.",
    "jspsych.items_by_question": "Keine Spalte nennt die Items; als Item gilt die Frage einer Fragebogenseite, auch "
    "bei beantworteten Begrüßungs- und anderen Seiten. Falls eine Spalte die Items nennt: --map item=NAME.",
    "jspsych.items_by_either": "Keine Spalte nennt die Items; als Item gelten der Stimulus ohne HTML-Tags und die "
    "Frage einer Fragebogenseite, auch bei beantworteten Begrüßungs- und anderen Seiten. Falls eine Spalte die Items "
    "nennt: --map item=NAME.",
    "jspsych.button_positions": "Die Daten nennen die Buttons nicht; Antworten sind ihre Positionen ab 0. Um sie zu "
    "benennen: --answers 0=NAME.",
    "jspsych.button_labels": "Buttons werden an ihren Beschriftungen gelesen; ihre Positionen ab 0 stehen in der "
    "Spalte response_index.",
    "jspsych.likert_from_zero": "survey-likert zählt die Punkte einer Skala ab 0. Um ab 1 zu zählen: --answers 0=1 "
    "und so weiter.",
    "label_studio.items": "item ist die ID der Aufgabe. Falls ein Feld der Aufgabe das Item nennt: --map item=NAME.",
    "label_studio.lead_time": "rt ist die Bearbeitungszeit einer ganzen Aufgabe in Sekunden (lead time).",
    "label_studio.trials": "trial ist die Reihenfolge, in der die Annotationen einer Person entstanden.",
    "label_studio.answers": "Die Antworten in {file} stammen aus {columns}. Falls das falsch ist: --map response=NAME.",
    "lrex.questions": "{file} hat {n} Bewertungen je Zeile; question ist der Name der Bewertungsspalte.",
    "lrex.items": "Items sind nach ihren Materialien und ihrer Nummer benannt. Für eine andere Spalte: --map "
    "item=NAME.",
    "lrex.function": "function stammt von Materialien, die nach practice, filler oder attention benannt sind. Um "
    "das rückgängig zu machen: --map function=",
    "lrex.never_rated": "{column}: {n:answer} -1 {n:gilt|gelten} als fehlend.",
    "lrex.ids": "Teilnehmende sind nach ihrer ID benannt. Für die Nummer von L-Rex: --map participant=number.",
    "lrex.ids_left_out": "Die IDs der Teilnehmenden wurden ausgelassen, weil sie Personen erkennen lassen; die "
    "Nummern bleiben.",
    "mturk.item_section_and_number": "Als Item gelten Abschnitt und Nummer von turktools, verbunden. Für eine "
    "andere Spalte: --map item=NAME.",
    "mturk.item_number": "Als Item gilt die Nummer von turktools. Für eine andere Spalte: --map item=NAME.",
    "mturk.item_field": "Das Formular nummeriert seine Antworten, und keine Eingabespalte ist so nummeriert. Jede von "
    "ihnen, etwa {column}, wird als Antwort auf ein eigenes Item gelesen.",
    "mturk.item_hit": "Keine Eingabespalte nennt das Item; es gilt HITId. Für eine andere Spalte: --map item=NAME.",
    "mturk.questions": "Mehrere Felder des Formulars werden als Antworten gelesen, jedes als eigene Frage: {names}. "
    "Falls sie eine gemeinsame Skala haben: --map question=",
    "mturk.working_time": "WorkTimeInSeconds ist die Zeit eines Assignments von der Annahme bis zur Abgabe und gilt "
    "nicht als rt.",
    "mturk.rejected": "{n} {n:Assignment wurde|Assignments wurden} abgelehnt und {n:bleibt|bleiben} enthalten; die "
    "Spalte assignment_status zeigt, welche.",
    "otree.label_left_out": "participant.label wurde ausgelassen, weil die Spalte mehr als Codes enthält und "
    "Personen erkennen lässt.",
    "otree.prolific_ids": "participant.label mit den Prolific-IDs gilt als Teilnehmerkennung. Für den Code von "
    "oTree: --map participant=code.",
    "otree.worker_ids": "Die Worker-ID gilt als Teilnehmerkennung. Für den Code von oTree: --map participant=code.",
    "otree.codes": "participant.code von oTree gilt als Teilnehmerkennung.",
    "otree.background": "{app} wurde einmal gefragt und nennt kein Item; die Antworten ({answers}) stehen in der "
    "Tabelle der Teilnehmenden.",
    "otree.asked_once": "{app}: {answers} {n:wurde|wurden} nur in einer Runde gefragt und {n:steht|stehen} in der "
    "Tabelle der Teilnehmenden.",
    "otree.answers": "{app}: Als Antworten gelten {answers}; andere Felder beschreiben die Runde.",
    "otree.several_answers": "Mehrere Felder gelten als Antworten. Falls nur eines eine Antwort ist: --map "
    "response=NAME.",
    "otree.item": "Das Feld {field} ist das Item von {app}.",
    "otree.item_by_round": "Kein Feld von {app} nennt das Item; Items sind nach App und Runde benannt. Falls ein Feld "
    "sie nennt: --map item=NAME.",
    "otree.bots": "{n:participant} {n:wurde|wurden} von Bots von oTree gespielt; die Spalte is_bot der "
    "Teilnehmenden zeigt, welche.",
    "otree.demo": "{n:participant} {n:stammt|stammen} aus einer Demo-Sitzung; die Spalte is_demo der Teilnehmenden "
    "zeigt, welche.",
    "otree.rounds_counted": "{file} hat keine Spalte {column}; Runden werden in der Reihenfolge der Zeilen gezählt.",
    "otree.no_page_times": "Die Seitenzeiten enthalten die App {app} nicht; ihre Antworten haben kein rt.",
    "otree.page_times": "Bei {app} ist rt die Zeit auf der Seite {page}[[, nicht auf {others}]]. Sie läuft, seit "
    "die vorige Seite verlassen wurde, in ganzen Sekunden; feinere Zeiten hält oTree nicht fest.",
    "otree.several_pages": "{app} hat mehrere Seiten je Runde ({pages}) und daher kein rt. Um die Zeit auf einer "
    "davon zu verwenden: --map rt='{column}' oder eine andere dieser Spalten. Sie läuft, seit die vorige Seite "
    "verlassen wurde, in ganzen Sekunden; feinere Zeiten hält oTree nicht fest.",
    "potato.survey_left_out": "Umfragen: {n:Die Frage|Die Fragen} {columns} {n:wurde|wurden} ausgelassen, weil "
    "{n:sie Personen erkennen lässt|sie Personen erkennen lassen}.",
    "potato.labels": "{schemas}: Die markierte Kategorie ist die Antwort.",
    "potato.values": "{schemas}: Der Wert ist die Antwort.",
    "potato.scales": "{schemas}: Jede Kategorie ist eine eigene Frage, weil mehrere zugleich Zahlen haben.",
    "potato.times": "rt ist die Bearbeitungszeit der ganzen Instanz in Sekunden.",
    "potato.several_labels": "Wo mehrere Kategorien markiert sind und Potato nicht festhält, welche zuletzt, gibt "
    "es keine eindeutige Antwort.",
    "prolific.withheld": "{file}: {n} {n:Zelle|Zellen} {word} {n:gilt|gelten} als fehlend.",
    "prolific.several_submissions": "{n:participant} {n:hat|haben} mehrere Einreichungen. Es gilt der am weitesten "
    "fortgeschrittene Status; die Spalte submissions zeigt ihre Zahl.",
    "qualtrics.previews": "{n} {n:Vorschau wurde|Vorschauen wurden} wegen der Spalte Status beiseitegelegt.",
    "qualtrics.test_responses": "{n} {n:Testantwort wurde|Testantworten wurden} wegen der Spalte Status "
    "beiseitegelegt.",
    "qualtrics.without_id": "{n} {n:Rückmeldung hat|Rückmeldungen haben} kein {column}; dort gilt ResponseId als "
    "Teilnehmerkennung.",
    "qualtrics.no_import_ids": "Die Zeile der Import-Ids fehlt. Welche Fragen zusammengehören, zeigen deshalb die "
    "Namen der Spalten. Falls das falsch ist: die Antworten noch einmal mit allen drei Kopfzeilen exportieren.",
    "qualtrics.rows": "Keine Spalte nennt die Teilnehmenden; jede Zeile gilt als eine Person.",
    "qualtrics.sessions": "{n:participant} {n:antwortete|antworteten} mehrmals; die Spalte session nummeriert die "
    "Teilnahmen.",
    "qualtrics.unfinished": "{n} {n:Rückmeldung ist|Rückmeldungen sind} unvollständig und {n:bleibt|bleiben} "
    "enthalten; die Spalte finished der Teilnehmenden ist dort leer.",
    "qualtrics.background": "Einmal gefragt und daher in der Tabelle der Teilnehmenden: {tags}.",
    "qualtrics.groups": "Diese Spalten gelten je als eine Frage: {groups}. Um alle Spalten getrennt zu lesen: --map "
    "question=tag; um sie als eine Frage zu lesen: --map question=",
    "qualtrics.judgments": "Diese Spalten gelten wegen ihrer Tags und Antworten als Urteile: {tags}.",
    "qualtrics.no_order": "Keine Anzeigereihenfolge zeigt, in welcher Folge Fragen erschienen. Falls sie zufällig "
    "war, mit den Daten exportieren.",
    "qualtrics.unknown_zone": "Die Zeitzone {zone} ist unbekannt; started und finished werden als UTC gelesen.",
    "qualtrics.timings": "rt ist Page Submit in Sekunden. Eine Zeitmessung gehört zu den Fragen, {rule}.[[ "
    "{shared}]] Falls das falsch ist: --map rt=NAME.",
    "qualtrics.shared_pages": "Eine Seite mit mehreren Fragen ergibt page_time statt rt.",
    "qualtrics.timing_by_tag": "deren Tag sie nennt",
    "qualtrics.timing_before": "die in der Umfrage auf sie folgen",
    "qualtrics.timing_after": "die in der Umfrage vor ihr stehen",
    "qualtrics.timing_by_tag_or_before": "deren Tag sie nennt, sonst zu denen, die auf sie folgen",
    "qualtrics.timing_by_tag_or_after": "deren Tag sie nennt, sonst zu denen, die vor ihr stehen",
    "aside.absent_item_cells": "Zellen von Items, die nicht in der Liste sind",
    "aside.actions": "Aktionen vor der Antwort",
    "aside.animations": "Animationen",
    "aside.apart": "mit --set-apart {name} ausgelassene Antworten",
    "aside.background": "Angaben zur Person",
    "aside.background_cells": "Zellen mit Angaben zur Person",
    "aside.breaks": "Pausen",
    "aside.browser_checks": "Browserprüfungen",
    "aside.button_clicks": "Klicks auf Buttons",
    "aside.changed_answers": "frühere, später geänderte Antworten eines Trials",
    "aside.consent": "Einwilligungsseiten",
    "aside.content_shown": "gezeigte oder abgespielte Inhalte",
    "aside.continue_buttons": "Weiter-Buttons",
    "aside.continue_keys": "Tastendrücke zum Fortfahren",
    "aside.copies": "Kopien aus einer anderen Datei derselben Person",
    "aside.correct_answers": "richtige Antworten, als expected verwendet",
    "aside.debriefing": "Abschlussseiten",
    "aside.descriptions": "Beschreibungen von Teilnehmenden",
    "aside.display_order_cells": "Zellen mit Anzeigereihenfolgen",
    "aside.display_times": "Anzeigezeitpunkte",
    "aside.drawings": "Zeichnungen",
    "aside.early_keys": "Tastendrücke, bevor eine Antwort möglich war",
    "aside.empty_annotations": "Annotationen ohne Ergebnis",
    "aside.empty_cells": "leere Zellen, weil die Frage nicht gezeigt oder nicht beantwortet wurde",
    "aside.end_of_file": "Zeilen zum Dateiende",
    "aside.external_pages": "externe Seiten",
    "aside.eye_tracking": "Kalibrierungen des Eyetrackers",
    "aside.feedback": "Seiten mit Rückmeldung",
    "aside.fixations": "Fixationen",
    "aside.form_answers": "Formularantworten",
    "aside.form_fields": "Formularfelder",
    "aside.free_text": "Freitextantworten",
    "aside.free_text_cells": "Freitextzellen",
    "aside.full_screen": "Wechsel in den Vollbildmodus",
    "aside.function_calls": "Funktionsaufrufe",
    "aside.further_answers": "weitere Antworten auf dieselbe Frage",
    "aside.further_attempts": "weitere Versuche nach dem ersten",
    "aside.ground_truth": "Referenzantworten, als expected verwendet",
    "aside.inputs_beside": "Texteingaben neben einer anderen Antwort",
    "aside.instructions": "Instruktionen",
    "aside.instructions_and_breaks": "Instruktionen, Einwilligungen und Pausen",
    "aside.keys_beside": "Tastendrücke neben einer anderen Antwort",
    "aside.listed_participants": "Teilnehmende in der Liste der Durchgänge",
    "aside.microphone_and_camera": "Prüfungen von Mikrofon und Kamera",
    "aside.no_jspsych": "Ergebnisse, die keine jsPsych-Daten sind",
    "aside.no_trial_type": "Zeilen ohne Trialtyp",
    "aside.no_whole_judgment": "Ergebnisse, die nicht die ganze Aufgabe beurteilen",
    "aside.of_type": "Zeilen vom Typ {type}",
    "aside.other_events": "andere Ereignisse",
    "aside.other_logged_events": "andere protokollierte Ereignisse",
    "aside.otree_cells": "Zellen, die oTree selbst füllt",
    "aside.own_field_cells": "Zellen mit Feldern des Formulars selbst",
    "aside.own_test_trials": "Antworten aus Testläufen der Forschenden",
    "aside.page_times": "Seitenzeiten, den Runden zugeordnet",
    "aside.pages_without_answer": "Seiten ohne Antwort",
    "aside.part_of_task": "Antworten zu einem Teil der Aufgabe",
    "aside.personal_cells": "Zellen, die Personen erkennen lassen",
    "aside.practice_cells": "Zellen mit Übungsantworten",
    "aside.predictions": "Vorhersagen eines Modells",
    "aside.preloading": "Ladevorgänge",
    "aside.preview_cells": "Zellen von Vorschauen",
    "aside.questionnaire_rows": "Fragebogenzeilen (Antworten in der Tabelle der Teilnehmenden)",
    "aside.questions_beside": "Antworten auf Fragen neben der Auswahl",
    "aside.reading_times": "Lesezeiten",
    "aside.recordings": "Aufnahmen",
    "aside.repeated_headers": "wiederholte Kopfzeilen",
    "aside.repeated_round_cells": "Zellen von Runden, die schon in einer anderen Datei stehen",
    "aside.results_of_type": "Ergebnisse vom Typ {type}",
    "aside.round_cells": "Zellen, die eine Runde beschreiben",
    "aside.rt_cells": "Zellen mit Antwortzeiten",
    "aside.screen_calibrations": "Bildschirmkalibrierungen",
    "aside.screen_without_item": "Bildschirme ohne Item",
    "aside.sent_twice": "doppelt gesendete Zeilen",
    "aside.sentences_shown": "gezeigte Sätze",
    "aside.several_answer_cells": "Zellen von Fragen mit mehreren Antworten",
    "aside.several_choices": "Antworten mit mehreren Optionen zugleich",
    "aside.several_labels": "Antworten mit mehreren Kategorien zugleich",
    "aside.single_button": "Seiten mit nur einem Button",
    "aside.single_questions": "Antworten auf einmal je Person gestellte Fragen",
    "aside.skipped_annotations": "übersprungene Annotationen",
    "aside.sounds": "Töne",
    "aside.survey_pages": "Umfrageseiten",
    "aside.survey_without_item": "Umfrageantworten ohne Item",
    "aside.task_markers": "Anfangs- und Endmarken von Aufgaben",
    "aside.test_response_cells": "Zellen von Testantworten",
    "aside.text_spans": "Textabschnitte",
    "aside.timed_out": "durch das Zeitlimit beendete Bildschirme",
    "aside.timing_cells": "Zellen mit Zeitmessungen",
    "aside.trial_markers": "Anfangs- und Endmarken von Trials",
    "aside.typing": "Tippereignisse",
    "aside.unannotated_tasks": "von niemandem annotierte Aufgaben",
    "aside.unanswered_cells": "Zellen von Fragen, die niemand beantwortete",
    "aside.unanswered_displays": "von niemandem beantwortete Anzeigen",
    "aside.unanswered_schemas": "von niemandem beantwortete Schemas",
    "aside.unfilled_cells": "Zellen von Feldern, die niemand ausfüllte",
    "aside.unreached_round_cells": "Zellen nicht erreichter Runden",
    "aside.videos": "Videos",
    "word.lists": "Listen",
    "word.records": "Datensätze",
    # ==================== study ====================
    "results.from_items": "{column} stammt bei {n:answer} aus der Item-Tabelle.",
    "results.scale": "Die Skala ist die aus {file}: {kind}, {answers}.",
    "results.scales": "Die Skalen sind die aus {file}: {scales}.",
    "results.unknown_blocks": "Die Blöcke von {file} haben verschiedene Skalen, aber nicht alle Antworten zeigen, "
    "zu welchem Block sie gehören (durch eine Spalte block oder durch Items nur eines Blocks).",
    "design.levels": "Der Faktor {factor:quoted} braucht mindestens eine Stufe, und jede Stufe darf nur einmal "
    "genannt sein.[[ {advice}]]",
    "design.cell_twice": "Item {item:quoted} hat zwei Zeilen[[ in der Bedingung {condition}]].[[ {advice}]]",
    "design.two_items": "Die Zeilen als zwei Items benennen oder eine entfernen.",
    "design.no_level": "Item {item:quoted} hat keine Stufe des Faktors {factor:quoted}.[[ {advice}]]",
    "design.unknown_level": "Item {item:quoted} hat die unbekannte Stufe {level:quoted} des Faktors "
    "{factor:quoted}.[[ {advice}]]",
    "design.use_levels": "Möglich: {levels}.",
    "design.unnamed_level": "Ein Test-Item hat eine Stufe, die die Studiendatei nicht nennt.[[ {advice}]]",
    "design.fix_items": "Die Item-Tabelle korrigieren.",
    "design.no_column": "Die Item-Tabelle hat keine Spalte {column:quoted}.[[ {advice}]]",
    "design.add_column": "Die Spalte ergänzen.",
    "design.factor_twice": "Zwei Faktoren haben denselben Namen.[[ {advice}]]",
    "design.name_once": "Jeden Faktor nur einmal nennen.",
    "design.no_test_items": "Keine Zeile der Item-Tabelle hat die Funktion „test“.[[ {advice}]]",
    "design.add_test_items": "Die Test-Items ergänzen.",
    "design.unused_level": "Kein Test-Item hat die Stufe {level:quoted} des Faktors {factor:quoted}.[[ {advice}]]",
    "design.add_items_or_remove_level": "Items ergänzen oder die Stufe entfernen.",
    "design.between_items": "Item {item:quoted} hat die Stufen {levels:and} von {factor:quoted}, einem Faktor "
    "zwischen Items.[[ {advice}]]",
    "design.within_or_two_items": "Den Faktor als innerhalb von Items angeben oder die Zeilen als zwei Items benennen.",
    "design.too_few_lists": "{n:list} {n:kann|können} nicht {groups} {groups:Kombination|Kombinationen} von Stufen "
    "zwischen Personen zeigen[[ ({factors})]], eine je Liste.[[ {advice}]]",
    "design.more_lists": "Mindestens {n:list} verwenden.",
    "design.group_unseen": "Kein Item hat {group}; keine Liste zeigt das.",
    "design.condition_missing": "Kein Item[[ mit {where}]] hat die Bedingung {condition}. Das Design ist "
    "unvollständig; Effekte und ihre Interaktion lassen sich dort nicht trennen.",
    "design.items_lack_condition": "{n:Dem Item|Den Items} {items} fehlt die Bedingung {condition}[[ mit {where}]]; "
    "sie wird seltener gezeigt als andere.",
    "design.items_lack_level": "{n:Dem Item|Den Items} {items} fehlt eine Stufe von {factors:and}; nicht alle "
    "Listen zeigen {n:es|sie}.",
    "design.uneven_conditions": "Bei {n:item}[[ ({where})]] und {conditions:condition} zeigt eine Liste {least} bis "
    "{most} Items je Bedingung.[[ {advice}]]",
    "design.even_items": "Ein Vielfaches von {n} Items wäre ausgewogen.",
    "design.uneven_items": "Über {n:list}[[ mit {where}]] ist ein Item {least}- bis {most}-mal in einer Bedingung "
    "zu sehen[[, und {never} von {sentences} Sätzen nie; Bedingung und Item sind konfundiert]].[[ {advice}]]",
    "design.even_lists": "Ein Vielfaches von {n:list} wäre ausgewogen.",
    "design.uneven_groups": "Bei {n:list} und {groups} Kombinationen von {factors:and} hat jede Kombination {least} "
    "bis {most} Listen.[[ {advice}]]",
    "design.uneven_lengths": "Die Listen haben {least} bis {most} Test-Trials.",
    "subsets.numbers": "Die Zahlen der Items, der Items je Person und der Bewertungen je Item müssen mindestens 1 "
    "sein.",
    "subsets.too_many": "Eine Person kann nicht {n} von {items:item} beurteilen, ohne eines zweimal zu sehen.[[ "
    "{advice}]]",
    "subsets.fewer_items": "Höchstens {most} Items je Person verwenden.",
    "subsets.extra_ratings": "{n:item} von {items} {n:hat|haben} {more} Bewertungen, die anderen {ratings}, weil "
    "{items} × {ratings} Bewertungen kein Vielfaches von {per_participant} sind.",
    "subsets.meetings": "Zwei Items treffen bei {least} bis {most} Personen zusammen; gleichmäßig wären {mean:.2}.",
    "pairs.rows": "Das Paar {pair:quoted} hat {n} {n:Zeile|Zeilen} in der Item-Tabelle, eine Auswahl braucht aber "
    "zwei.[[ {advice}]]",
    "pairs.two_rows": "Dem Paar eine zweite Zeile geben oder je zwei Zeilen einen eigenen Namen.",
    "pairs.uneven": "Items sind in {least} bis {most} Paaren, weil {places} Plätze kein Vielfaches von {items} "
    "Items sind.",
    "pairs.uneven_participants": "{n:participant} von {participants} {n:sieht|sehen} ein Item zweimal öfter als ein "
    "anderes, weil die Vergleiche sonst nicht alle Items verbänden. Mehr Personen oder Paare beheben das.",
    "pairs.items": "Zufallspaare brauchen mindestens zwei verschiedene Items, jedes einmal genannt; es "
    "{n:gibt|gibt} {n}.",
    "pairs.numbers": "Die Zahlen der Personen und der Paare je Person müssen mindestens 1 sein.",
    "pairs.too_many": "Eine Person kann nicht {n:pair} aus {items} Items beurteilen, ohne eines zweimal zu sehen; "
    "es gibt nur {pairs}.[[ {advice}]]",
    "pairs.fewer": "Weniger Paare je Person verwenden.",
    "pairs.too_few": "{n:pair} {n:kann|können} {items} Items nicht verbinden; nötig sind {needed}.[[ {advice}]]",
    "pairs.more": "{participants:participant} oder mehr Paare je Person verwenden.",
    "sessions.repeats": "{repeats} {repeats:Wiederholung|Wiederholungen} bei {questions:question} und "
    "{participants:participant} sind nicht möglich, weil jede Frage höchstens zweimal kommt.[[ {advice}]]",
    "sessions.fewer_repeats": "Eine Zahl von 0 bis zur Zahl der Fragen verwenden.",
    "plan.choice_stimuli": "Eine Auswahl zeigt zwei Stimuli, aber {key} {name} hat {n}.[[ {advice}]]",
    "plan.two_stimuli": "Zwei Zeilen angeben oder eine Zeile mit sentence und sentence_2.",
    "plan.compared_level": "Item {item} hat {factor} = {level}; das ist keine der Stufen {levels}.[[ {advice}]]",
    "plan.fix_items_or_factor": "Die Item-Tabelle oder den Faktor korrigieren.",
    "check.verified_where": "{n} {n:Kontrolle gilt|Kontrollen gelten} als geprüft, aber nicht, wann und wo.",
    "check.attention_early": "{item}: Der Verstoß beginnt mit Wort {place} von {length}. Er fällt auch denen auf, die "
    "früh aufhören zu lesen[[; ebenso in {n} weiteren]].",
    "check.attention_early_signs": "{item}: Der Verstoß beginnt mit Zeichen {place} von {length}. Er fällt auch denen "
    "auf, die früh aufhören zu lesen[[; ebenso in {n} weiteren]].",
    "check.violation_absent": "{item}: Die Spalte violation hat {text:quoted}, was in ihrem Satz nicht vorkommt.",
    "check.personal_question": "{name}: Diese Frage zur Person muss beantwortet werden und lässt sich nicht ablehnen.",
    "check.frame_words": "Fast alle {n} Testsätze haben {words:and}, aber kaum einer der {fillers} anderen Sätze. Test-"
    "Trials sind daran zu erkennen.",
    "check.frame_questions": "Fast alle {n} Testsätze sind Fragen, aber kaum einer der {fillers} anderen Sätze. Test-"
    "Trials sind daran zu erkennen.",
    "check.expected_points": "{item} ist {status}, aber auf {points} Punkten wird {answer} erwartet. Damit wäre {end}, "
    "die klarste Antwort, falsch[[; ebenso in {n} weiteren]].",
    "check.frame_length": "Testsätze haben im Mittel {tests:.1} Wörter, die anderen {fillers:.1}. Test-Trials sind an "
    "ihrer Länge zu erkennen.",
    "check.frame_length_signs": "Testsätze haben im Mittel {tests:.1} Zeichen, die anderen {fillers:.1}. Test-Trials "
    "sind an ihrer Länge zu erkennen.",
    "check.participants": "{n:participant}; als Faustregel gelten {fewest} bis {usual}.",
    "check.participants_groups": "{n:participant} in {groups} Gruppen sind {each} je Gruppe; als Faustregel gelten "
    "{fewest} bis {usual} je Gruppe.",
    "check.participants_lists": "{n:participant} lassen sich nicht gleichmäßig auf {lists} Listen verteilen.",
    "check.ratings_of_items": "{n} Items mit je {ratings} {ratings:Urteil|Urteilen}, {each} je Person, brauchen "
    "{needed} Teilnehmende; gewünscht sind {wanted}.",
    "check.ratings_of_pairs": "{n} Paare mit je {ratings} {ratings:Urteil|Urteilen}, {each} je Person, brauchen "
    "{needed} Teilnehmende; gewünscht sind {wanted}.",
    "check.pay": "Eine Stunde bringt {earned:.2} {currency}[[, weil {paid} Minuten bezahlt werden und es etwa "
    "{minutes:.0} dauert]]; das angegebene Minimum ist {least:.2}.",
    "check.minutes": "Die Studie soll {said} Minuten dauern; nach ihren Trials dauert sie etwa {minutes:.0}.",
    "check.platform": "Es gibt keine Plattform {name:quoted}.",
    "check.completion_code": "Teilnehmende kommen von {platform} und können nicht zurückgeschickt werden: "
    "completion_code fehlt.",
    "check.quota_unasked": "Es gibt eine Quote für {name}, wonach keine Hintergrundfrage fragt.",
    "check.quota_after": "Es gibt eine Quote für {name}, wonach erst nach den Trials gefragt wird.",
    "check.quota_answer": "Es gibt eine Quote für {name} = {answer}, was keine der Antworten ist.",
    "check.quotas": "Die Quoten für {name} lassen {room} Teilnehmende zu, gewünscht sind aber {wanted}.",
    "check.screening": "Es sind keine Kriterien für den Ausschluss angegeben; später angegeben, hängen sie von den "
    "Daten ab.",
    "check.consent": "Teilnehmende werden nicht um ihre Einwilligung gebeten.",
    "check.criterion_trials": "{criterion} braucht Trials mit der Funktion {function}, und es gibt keine.",
    "check.criterion_repeats": "{criterion} braucht Fragen, die zweimal gestellt werden, und es gibt keine.",
    "check.criterion_quiz": "{criterion} braucht ein Quiz, und es gibt keines.",
    "check.criterion_eligible": "{criterion} braucht eine Hintergrundfrage, die geeignete Antworten nennt, und es "
    "gibt keine.",
    "check.no_tests": "Es gibt keine Test-Trials.",
    "check.lexicalisations": "Eine Person sieht {n} {n:Lexikalisierung|Lexikalisierungen}[[ von {condition}]]; erst "
    "ab {least} kann ein eigenwilliger Satz nicht als Effekt durchgehen.",
    "check.ratio": "{tests} Test-Trials und {fillers} Füller stehen 1:{ratio}; unter 1:{least} fallen Test-Trials "
    "auf, und Teilnehmende entwickeln Strategien.",
    "check.length": "Eine Person beurteilt {n} Trials; nach etwa {most} ermüden Menschen.",
    "check.calibration": "Es gibt {n} {n:Kalibrierungs-Trial|Kalibrierungs-Trials}; mit {usual} gewöhnen sich "
    "Teilnehmende an die Aufgabe, bevor es zählt.",
    "check.no_calibration": "Es gibt keine Kalibrierungs-Trials; mit {usual} gewöhnen sich Teilnehmende an die "
    "Aufgabe, bevor es zählt.",
    "check.calibration_unknown": "{n} von {of} Kalibrierungs-Trials haben keine beabsichtigte Akzeptabilität; ob sie "
    "die Skala abdecken, ist nicht zu sehen.",
    "check.calibration_range": "Keiner der {n} Kalibrierungs-Trials hat {missing:and} Akzeptabilität; Teilnehmende "
    "sollten die ganze Skala benutzt haben, bevor es zählt.",
    "check.low": "niedrige",
    "check.mid": "mittlere",
    "check.high": "hohe",
    "check.spread_first": "Alle {n} Trials mit der Funktion {function} stehen in der ersten Hälfte des Fragebogens; "
    "wer später eindöst, fällt nicht auf.",
    "check.spread_second": "Alle {n} Trials mit der Funktion {function} stehen in der zweiten Hälfte des "
    "Fragebogens; wer am Anfang abgelenkt ist, fällt nicht auf.",
    "check.spread": "Nichts hält die {n} Trials mit der Funktion {function} davon ab, an einem Ende des Fragebogens "
    "zu stehen.",
    "size.trials": "{design}, {task}: {test} Test- und {fillers} Füll-Trials ergeben {trials:trial}, innerhalb der "
    "Grenze von {most}.",
    "size.too_many_trials": "{design}, {task}: {test} Test- und {fillers} Füll-Trials ergeben {trials:trial}, mehr "
    "als die Grenze von {most}.",
    "size.fillers": "Die Füller sind {calibration} Kalibrierungs-, {control} Kontroll- ({control_rule} richtig), "
    "{attention} Aufmerksamkeits- ({attention_rule} richtig) und {other} andere {other:Trial|Trials}.",
    "size.cost": "Der Fragebogen dauert etwa {minutes:.0} Minuten; {n:participant} kosten {cost:.2} {currency}.",
    "size.right": "{right} von {n}",
    "size.right_of_both": "{right} von {n} grammatischen, {right} von {n} ungrammatischen",
    "size.special_fillers": "Das Verhältnis braucht {wanted} Füller, Kalibrierung, Kontrollen und Aufmerksamkeit aber "
    "{special}.",
    "size.compared_pairs": "Kein Faktor hat zwei Stufen; {levels} Stufen werden in {pairs:pair} verglichen, jedes "
    "eine Bedingung.",
    "size.assumed_times": "{seconds} s je Trial und {minutes:minute} für Einwilligung, Instruktion, Fragen zur "
    "Person und Pausen",
    "size.assumed_pay": "{n:participant} zu {pay:.2} {currency} je Stunde, dazu {fee:%} Gebühr der Plattform",
    "size.assumed_list": "{n:participant} zu {pay:.2} {currency} je Stunde, dazu {fee:%} Gebühr nach der Preisliste "
    "von {platform} vom Stand {date}",
    "cost.list": "{n:participant} kosten {cost:.2} {currency}, mit {fee:%} Gebühr nach der Preisliste von {platform} "
    "vom Stand {date}.",
    "cost.own_fee": "{n:participant} kosten {cost:.2} {currency}, mit der Gebühr der Plattform von {fee:%}, die die "
    "Studie angibt.",
    "cost.no_fee": "{n:participant} kosten {cost:.2} {currency}; eine Gebühr der Plattform fällt nicht an.",
    "cost.no_list": "{n:participant} kosten {cost:.2} {currency}, ohne die Gebühr von {platform}, deren Preisliste "
    "karat nicht kennt.",
    "size.assumed_fillers": "{n} {n:Lexikalisierung|Lexikalisierungen} je Bedingung und {fillers} Füller je Test-Trial",
    "size.assumed_guessing": "wer rät, besteht mit einer Wahrscheinlichkeit von höchstens {p:.2r+}; {n} {n:Ausrutscher "
    "ist|Ausrutscher sind} je Gruppe erlaubt",
    # ==================== field ====================
    "publish.address": "{text} ist keine Adresse eines Servers. Schreiben Sie zum Beispiel https://study.example.org.",
    "publish.no_name": "Unter dem Namen {host} ist kein Server bekannt. Bitten Sie die Verwaltung der Domain, "
    "den Namen auf Ihren Server zeigen zu lassen.",
    "publish.no_https": "{host} wird ohne HTTPS erreicht, sodass Antworten unterwegs mitgelesen werden können. "
    "Stellen Sie einen Proxy mit Zertifikat vor karat, etwa Caddy.",
    "publish.certificate": "Das Zertifikat von {host} ist nicht gültig: {reason}. Browser werden die "
    "Teilnehmenden warnen.",
    "publish.certificate_ends": "Das Zertifikat von {host} gilt nur noch {days:day}. Sorgen Sie dafür, dass es "
    "erneuert wird.",
    "publish.https": "{host} hat ein gültiges Zertifikat.",
    "publish.no_answer": "Unter {host} antwortet nichts: {reason}. Prüfen Sie, ob der Server läuft und seine "
    "Ports 80 und 443 offen sind.",
    "publish.healthy": "karat antwortet, und seine Datenbank speichert, was geschrieben wird.",
    "publish.not_saving": "karat antwortet, kann aber nichts speichern: Die Platte ist voll, schreibgeschützt "
    "oder fehlt. Das Protokoll des Servers nennt den Grund.",
    "publish.not_karat": "Unter {host} antwortet ein Server mit Status {status}, aber es ist nicht karat. Prüfen "
    "Sie, wohin sein Proxy Besucher leitet.",
    "publish.clock": "Die Uhr des Servers stimmt mit der dieses Rechners überein.",
    "publish.clock_off": "Die Uhren des Servers und dieses Rechners weichen um {minutes:minute} voneinander ab. "
    "Stellen Sie beide nach einem Zeitserver.",
    "publish.study": "Die Studie {slug} ist auf dem Server.",
    "publish.no_study": "Der Server hat die Studie {slug} nicht. Kopieren Sie ihren Ordner auf den Server und "
    "starten Sie karat neu.",
    "invitation.subject": "Einladung zu einer Studie: {title}",
    "invitation.text": "Guten Tag,\n\nwir laden Sie ein, an unserer Studie „{title}“ teilzunehmen. Sie dauert "
    "etwa {minutes:minute} und läuft im Browser, am Computer oder Telefon:\n\n{link}\n\nDie erste Seite erklärt, "
    "was Sie tun und wie Ihre Daten verwendet werden. Sie können jederzeit aufhören.\n\nVielen Dank!",
    # ==================== simulate ====================
    "power.reached": "{items:item}, Effekt {effect} {unit}: {participants:participant} erreichen eine Teststärke von "
    "{wanted:.2r}.",
    "power.not_reached": "{items:item}, Effekt {effect} {unit}: Mit {participants:participant} beträgt die Teststärke "
    "{power:.2r} und liegt damit unter {wanted:.2r}.",
    "power.pilot": "Der Effekt in der Pilotstudie ist {effect:.2} (Standardfehler {error:.2}). In kleinen "
    "Pilotstudien gefundene Effekte sind oft überschätzt.",
    "power.log_odds": "Log-Odds",
    "power.share_of": "Anteil {level}",
    "power.steps": "Stufen der Skala",
    "power.logarithm": "Logarithmus",
    "power.preference": "Präferenz von −1 bis 1",
    "power.points": "Punkte der Skala",
    "power.exclude": "exclude muss ein Anteil ab 0 und unter 1 sein, ist aber {value}.",
    "power.simulations": "simulations muss mindestens 1 sein, ist aber {value}.",
    "power.alpha": "alpha muss zwischen 0 und 1 liegen, ist aber {value}.",
    "power.analysis": "analysis muss model, means oder mixed sein, ist aber {value}.",
    "power.quick_pilot": "Mit einer Pilotstudie gilt die schnelle Näherung, die Antworten als Zahlen nimmt.",
    "power.quick_only": "`karat measure` hat für diesen Kontrast kein Modell; es gilt die schnelle Näherung.",
    "power.unit": "unit muss log-odds oder scale sein, ist aber {value}.",
    "power.several_sizes": "Eine Studiendatei hält eine Größe fest; hier sind es {n}. Eine "
    "Zahl von Personen und Items und ein Effekt lassen sich festhalten.",
    "power.few_participants": "{n:participant} {n:ist|sind} zu wenig: Das Design braucht mindestens {least}, zwei "
    "je Liste.",
    "power.few_items": "{n:item} {n:ist|sind} zu wenig für zufällige Items: Das Design braucht mindestens {least}.",
    "power.no_effects": "Effekte auf der Skala haben keine übliche Größe. Die Unterschiede angeben.",
    "power.difference_too_large": "Ein Unterschied von {difference} ({unit}) ist mehr, als die Skala zeigen kann.",
    "pilot.no_column": "Die Pilotstudie hat keine Spalte {column}, die der Kontrast {contrast} braucht.",
    "pilot.too_small": "Die Pilotstudie hat {n:answer} zum Kontrast {contrast}; nötig sind mindestens drei Personen "
    "und drei Items.",
    "pilot.singular": "Das Modell der Pilotstudie ist singulär: Manche Standardabweichungen sind auf 0 geschätzt.",
    "contrasts.none": "{file} plant keinen Kontrast und hat keinen Faktor mit zwei Stufen. Einen Kontrast ergänzen.",
    "contrasts.unknown": "{file} plant keinen Kontrast {name}.[[ Gemeint ist vielleicht {close}.]][[ Geplant: "
    "{known}.]]",
    "layout.no_factor": "{factor} ist kein Faktor eines Blocks von {file}. Dort ergänzen.",
    "layout.no_contrast": "Der Kontrast {contrast} kommt im Design nicht vor. Seine Stufen korrigieren.",
    "layout.choice": "Die Wahlen vergleichen selbst schon {factor}, deshalb kann {contrast} keine Interaktion "
    "damit sein. Besser ist ein Unterschied von {factor} auf jeder Stufe des anderen Faktors.",
    "layout.no_items": "Ein Design braucht Items, es gibt aber {n}.",
    "layout.items": "{n:item} lassen sich nicht gleichmäßig auf {groups} Gruppen des Designs verteilen; simuliert "
    "werden {simulated}.",
    "simulate.participants": "Eine Studie braucht Teilnehmende, es gibt aber {n}.",
    "simulate.no_levels": "Antworten auf einer Skala der Art {kind} haben keine Stufen.",
    "simulate.no_ends": "Antworten auf einer kontinuierlichen Skala ohne Enden lassen sich nicht simulieren. Beide "
    "Enden angeben.",
    "simulate.deviation": "Die Standardabweichung {name} darf nicht negativ sein.",
    "simulate.no_bot": "Es gibt keinen Bot mit dem Verhalten {name}. Bekannt sind: {known}.",
    "behaviours.share_twice": "Der Anteil von {name} ist zweimal angegeben. Er darf nur einmal angegeben sein.",
    "behaviours.no_share": "{text:quoted} ist kein Anteil. NAME=ANTEIL schreiben, etwa guesser=0.05.",
    "behaviours.unknown": "Es gibt kein Verhalten {name} zu simulieren.[[ Gemeint ist vielleicht {close}.]][[ Es "
    "gibt {known}.]]",
    "behaviours.share": "Der Anteil von {name} muss zwischen 0 und 1 liegen, ist aber {value}.",
    "behaviours.total": "Die Anteile ergeben {total}, nicht 1. Ohne Angabe für {name} entfällt der Rest darauf.",
    "crowd.tasks": "Eine Crowd braucht mindestens 1 Aufgabe und 2 Kategorien, es gibt aber {tasks} und {categories}.",
    "crowd.balance": "balance braucht einen Anteil für jede von {categories} Kategorien, zusammen 1.",
    "crowd.spammers": "Es gibt keine Spammer der Art {kind}; es gibt {known}.",
    "crowd.negative": "{kind}: Es kann nicht {n} Personen geben.",
    "crowd.too_many_spammers": "{n} von {workers} Personen wären Spammer. Mehr Personen angeben.",
    "crowd.workers": "Es gibt keine Personen der Art {kind}; es gibt {known}.",
    "crowd.decision": "decision muss „draw“ oder „sign“ sein, ist aber {value:quoted}.",
    "crowd.turn": "turn muss ein Trial von 1 bis {most} sein, ist aber {value}.",
    "crowd.long_run": "Eine Lieblingsantwort {run}-mal hintereinander in {trials:trial} ist zu unwahrscheinlich. "
    "Eine kürzere Folge verwenden.",
    # ==================== screen: completion, times, controls, attention ====================
    "evidence.flagged": "{flagged} von {participants:participant} auffällig.",
    "participants.no_column": "Die Tabelle der Teilnehmenden hat keine Spalte {column}.[[ Ist {meant} gemeint?]][[ "
    "Ihre Spalten sind {columns}.]]",
    "times.none": "Diese Urteile haben keine Antwortzeiten (Spalte rt, in Sekunden).",
    "times.only_practice": "Außerhalb der Übung gibt es keine Antwortzeiten.",
    "speed.times": "Mittel {mean:.2+} s, Median {median:.2+} s[[; Mittel unter {mean_below} s]][[; Median unter "
    "{median_below} s]][[; Median unter {relative:.2+} s, {relative_below:%} des Medians über alle "
    "Teilnehmenden]][[; {worked:.2} Minuten gearbeitet, höchstens {share:%} der erwarteten {expected}]]",
    "speed.no_times": "keine Antwortzeiten[[; {worked:.2} Minuten gearbeitet, höchstens {share:%} der erwarteten "
    "{expected}]]",
    "speed.untimed": "{n:participant} ohne Antwortzeiten außerhalb der Übung.",
    "speed.not_a_share": "{setting} muss zwischen 0 und 1 liegen und ist {value}.",
    "speed.not_positive": "{setting} muss über 0 liegen und ist {value}.",
    "speed.no_expected_minutes": "share_of_expected braucht auch expected_minutes, die erwartete Dauer.",
    "automation.found": "automatisiert mit Wahrscheinlichkeit {p:.3r}[[; {flags:mark} eines automatisierten "
    "Browsers]][[; {absent} von {pages:page} ohne Bericht der Trialseite]][[; Eingaben durch ein Skript auf "
    "{untrusted:page}]][[; gerade Linien mit gleichbleibend {pace} Pixeln pro Sekunde genau in die Mitte]][[; Klicks "
    "von {press:.4} s]][[; Tasten {hold:.4} s lang gedrückt]][[; höchstes Tempo {profile:.1}-mal das mittlere]]"
    "[[; Wege mit Krümmung {bend:.3}]][[; Klicks bei {off:.2} des Wegs von der Mitte zum Rand]][[; Bewegungen mit dem "
    "{fitts:.1}-Fachen der üblichen Dauer]]",
    "automation.unknown": "antwortete, bevor Seiten Spuren meldeten",
    "automation.not_seen": "{n:participant} antworteten, bevor Seiten Spuren meldeten, nicht auffällig.",
    "automation.limits": "Programme, die Menschen nachahmen und ihre Merkmale verbergen, lassen sich an Spuren nicht "
    "erkennen; für {share:%} der automatisierten Teilnahmen wird das angenommen.",
    "automation.no_traces": "Es gibt keine Maus- und Tastaturspuren (Spalte trace), die nur die Trialseite von karat "
    "meldet.",
    "automation.bad_setting": "{setting} liegt außerhalb des Bereichs, den das Kriterium zulässt.",
    "automation.small_pilot": "Ein Pilot braucht Spuren von mindestens {n:participant}.",
    "receipt_times.fit": "Antwortzeiten passen zwischen die Eingangszeiten von {pages:page}",
    "receipt_times.found": "von {pages:page}[[, Antwortzeiten von {claimed:.1} s passen nicht in {elapsed:.1} s nach "
    "der Uhr des Servers ({missing:.1} s zu viel)]][[, beantwortet in {took:.1} s, obwohl das Lesen mindestens "
    "{reading:.1} s braucht]][[, die Uhr des Browsers lief {backwards}-mal rückwärts]]",
    "receipt_times.none": "keine Eingangszeiten",
    "receipt_times.without": "{n:participant} ohne Eingangszeiten, nicht auffällig.",
    "receipt_times.no_receipts": "Es gibt keine Eingangszeiten (Spalte received), die nur ein Server aufzeichnet.",
    "completion.answered": "[[dieselbe Person wie {same_person}; ]][[derselbe Datensatz wie {same_record} "
    "({alike:trial} gleich, samt Antwortzeiten); ]]{answered} von {trials:trial} beantwortet[[; letzte Antwort an "
    "Position {last}]][[ der Sitzung {session}]]",
    "completion.answered_of_unknown": "[[dieselbe Person wie {same_person}; ]][[derselbe Datensatz wie {same_record} "
    "({alike:trial} gleich, samt Antwortzeiten); ]]{answered:trial} beantwortet; Länge des Fragebogens unbekannt",
    "completion.length_unknown": "Die Länge des Fragebogens ist nicht bekannt: Die Teilnehmenden haben {least} bis "
    "{most} Trials beantwortet, und weniger als ein Drittel hat 90 % des Höchstwerts erreicht. Nur wer gar nichts "
    "beantwortet hat, gilt als unvollständig. Hat der Fragebogen eine feste Länge, gehört completion = {{ trials = "
    "... }} unter [screening] einer Studiendatei oder in eine Datei für --rules, in Python trials=...",
    "completion.length_assumed": "Es wird angenommen, dass der Fragebogen {trials:trial} hat, das Maximum unter den "
    "Teilnehmenden.",
    "completion.no_person": "{n:participant} ohne Eintrag in {column}.",
    "completion.no_times": "Ohne Antwortzeiten lassen sich gleiche Datensätze unter zwei Namen nicht finden.",
    "completion.more_than_stated": "{n:participant} mit mehr Antworten als den angegebenen {trials:trial}.",
    "completion.bad_share": "at_least muss ein Anteil zwischen 0 und 1 sein und ist {value}.",
    "completion.bad_trials": "trials muss eine ganze Zahl ab 1 sein und ist {value}.",
    "completion.nobody_answered": "Niemand hat etwas beantwortet, daher ist die Länge des Fragebogens nicht bekannt. "
    "Abhilfe: trials=... angeben.",
    "eligibility.as_required": "{n:answer} wie verlangt[[; keine Antwort auf {absent}]]",
    "eligibility.contradicted": "{contradictions}[[; keine Antwort auf {absent}]]",
    "eligibility.no_answer": "keine Antwort auf {absent}",
    "eligibility.not_admitted": "{given} als Antwort auf {question} (verlangt: {admitted:or})",
    "eligibility.not_the_same": "{given} als Antwort auf {question}, aber {says} in {other}",
    "eligibility.not_met_quietly": "eine Antwort erfüllt die Anforderungen nicht",
    "eligibility.met_quietly": "keine Antwort widerspricht den Anforderungen",
    "eligibility.unanswered": "{n:participant} ohne Antwort, was nicht als Widerspruch zählt.",
    "eligibility.nothing_stated": "Es ist keine Anforderung angegeben. Anzugeben sind die zugelassenen Antworten, "
    "answers = {{ native_language = [\"German\"] }}, oder die Spalten, die übereinstimmen müssen, same = {{ "
    "native_language = \"First Language\" }}.",
    "eligibility.no_list": "Die Antworten auf {question} müssen eine Liste sein, etwa [\"German\"].",
    "quiz.not_passed": "Quiz nicht bestanden[[ ({attempts:attempt})]][[ (quiz_attempts nicht lesbar: "
    "{unread_attempts:quoted})]][[ (quiz_passed nicht lesbar: {unread_passed:quoted})]]",
    "quiz.passed": "Quiz bestanden[[ (quiz_attempts nicht lesbar: {unread_attempts:quoted})]][[ (quiz_passed nicht "
    "lesbar: {unread_passed:quoted})]]",
    "quiz.unknown": "Ergebnis des Quiz unbekannt[[ (quiz_attempts nicht lesbar: {unread_attempts:quoted})]][[ "
    "(quiz_passed nicht lesbar: {unread_passed:quoted})]]",
    "quiz.passed_on_attempt": "Quiz in Versuch {attempts} bestanden[[ (höchstens {allowed} erlaubt)]][[ "
    "(quiz_attempts nicht lesbar: {unread_attempts:quoted})]][[ (quiz_passed nicht lesbar: {unread_passed:quoted})]]",
    "quiz.attempts": "{attempts:attempt} beim Quiz[[ (höchstens {allowed} erlaubt)]][[ (quiz_attempts nicht lesbar: "
    "{unread_attempts:quoted})]][[ (quiz_passed nicht lesbar: {unread_passed:quoted})]]",
    "quiz.results_unknown": "{n:participant} ohne bekanntes Quizergebnis, nicht auffällig.",
    "quiz.unread": "{n:participant} mit einem unlesbaren Eintrag zum Quiz. In quiz_attempts gehören ganze Zahlen ab "
    "1, in quiz_passed true oder false.",
    "quiz.bad_attempts": "attempts_at_most muss eine ganze Zahl ab 1 sein und ist {value}.",
    "quiz.no_columns": "Die Tabelle der Teilnehmenden hat weder quiz_attempts (Zahl der Versuche) noch quiz_passed "
    "(ja oder nein). Die Spalten so benennen oder das Kriterium weglassen.",
    "gold.found": "Die hinterlegte richtige Antwort widerspricht bei {doubtful} von {items:item} einer fast "
    "einstimmigen Mehrheit.",
    "gold.doubtful": "{n:item} ({items}[[ und {more} weitere]]): Die hinterlegte richtige Antwort widerspricht einer "
    "fast einstimmigen Mehrheit. Vor jedem Urteil über Genauigkeit den Schlüssel prüfen.",
    "gold.not_comparable": "{n} der verschiedenen richtigen Antworten ließen sich nicht vergleichen, weil sie Zahlen "
    "sind oder die Skala sie nicht kennt.",
    "gold.left_out": "Items mit zweifelhaftem Schlüssel zählen nicht zur Genauigkeit ({n:item}).",
    "gold.all_doubtful": "Jede hinterlegte richtige Antwort widerspricht der Mehrheit. Die Spalte expected prüfen.",
    "gold.bad_share": "near_unanimous muss über 0,5 und höchstens bei 1 liegen und ist {value}.",
    "gold.no_key": "Kein Trial gibt an, welche Antwort richtig ist (Spalte expected).",
    "gold.bad_doubtful": "doubtful muss „left out“ oder „counted“ sein und ist {value:quoted}.",
    "time_filter.no_times": "keine Antwortzeiten außerhalb der Übung",
    "time_filter.below_mean": "Mittel {mean:.2+} s[[ ({level}, wie auf jeder Stufe)]], unter dem Mittel aller "
    "Zeiten, {cutoff:.2} s",
    "time_filter.not_below_mean": "Mittel {mean:.2+} s[[ ({level})]], nicht unter dem Mittel aller Zeiten, "
    "{cutoff:.2} s",
    "time_filter.below_sd": "Mittel {mean:.2+} s[[ ({level}, wie auf jeder Stufe)]], unter {cutoff:.2} s, einer "
    "Standardabweichung unter dem Mittel",
    "time_filter.not_below_sd": "Mittel {mean:.2+} s[[ ({level})]], nicht unter {cutoff:.2} s, einer "
    "Standardabweichung unter dem Mittel",
    "time_filter.half": "Etwa die Hälfte aller Teilnehmenden liegt unter dem Mittel, daher diese Regel nur zusammen "
    "mit anderen verwenden.",
    "time_filter.without_level": "{n:response time} ohne Wert in {column} ausgelassen.",
    "time_filter.bad_rule": "Die Regel muss mean oder mean-sd sein und ist {value}.",
    "time_filter.no_column": "Es gibt keine Spalte {column}.[[ Ist {meant} gemeint?]]",
    "time_limit.bad": "time_limit muss eine Zahl von Sekunden sein, oder 0 ohne Grenze, und ist {value}.",
    "time_limit.stated": "Die Trials hatten eine Zeitgrenze von {seconds} s. Dann spiegeln Antwortzeiten die Grenze "
    "wider, daher besser ein anderes Kriterium verwenden, etwa Aufmerksamkeit oder die Antworten.",
    "time_limit.suspected": "{n} von {times:response time} liegen nahe bei der längsten, {longest:.1} s, wie bei "
    "einer Zeitgrenze. Dann spiegeln Antwortzeiten die Grenze wider, daher besser ein anderes Kriterium verwenden, "
    "etwa Aufmerksamkeit oder die Antworten. Ohne Grenze time_limit = 0 setzen.",
    "remfod.genuine": "{intermissions:intermission} und {rushes:rush} in {trials:trial} mit Zeit: {genuine:%} echt "
    "({needed:%} nötig)",
    "remfod.no_times": "keine Antwortzeiten",
    "remfod.found": "{intermissions:intermission}, {rushes:rush} in {rounds:round}; {flagged} von "
    "{participants:participant} auffällig (unter {needed:%} echt)[[, Regel {rule}]].",
    "remfod.untimed": "{n:trial} ohne Antwortzeit ausgelassen.",
    "remfod.one_function": "Alle Trials haben die Funktion {function}, daher sind die Grenzen je Item-Funktion die "
    "aller Zeiten zusammen.",
    "remfod.all_times_equal": "Alle Antwortzeiten sind gleich, daher kann keine abweichen, und sie sagen über "
    "niemanden etwas aus.",
    "remfod.no_spread": "{n:trial} nur deshalb auffällig, weil die meisten Zeiten der Gruppe genau gleich sind (MAD "
    "0). Prüfen, ob Antwortzeiten gerundet wurden.",
    "remfod.no_rule": "Es gibt keine Regel {rule}.[[ Ist {meant} gemeint?]][[ Die Regeln sind {rules}.]]",
    "remfod.bad_factors": "upper und lower müssen über 0 liegen. Sie geben Vielfache der Streuung über und unter der "
    "Mitte an.",
    "remfod.bad_share": "genuine_at_least muss ein Anteil zwischen 0 und 1 sein und ist {value}.",
    "remfod.bad_constant": "mad_constant muss über 0 liegen und ist {value}.",
    "remfod.no_length_in_parts": "In Teilen lassen sich Antwortzeiten nicht an die Länge anpassen, weil die "
    "Anpassung die Trials aller Teilnehmenden zugleich braucht. length weglassen oder im Arbeitsspeicher prüfen.",
    "remfod.file_gone": "{file} aus einem früheren Durchgang fehlt. Mit einem anderen Ordner für --checkpoint neu "
    "beginnen.",
    "remfod.nothing_to_draw": "{participant} hat keine Antwortzeiten zum Zeichnen.",
    "participants.no_participant": "Es gibt niemanden mit dem Namen {participant}.[[ Ist {meant} gemeint?]]",
    "length.none": "Die Antwortzeiten sind nicht an die Länge angepasst, weil kein Trial in der Spalte {column} eine "
    "Länge über 0 hat.",
    "length.all_equal": "Die Antwortzeiten sind nicht an die Länge angepasst, weil sich keine zwei Trials einer "
    "Person und Item-Funktion darin unterscheiden (Spalte {column}).",
    "length.adjusted": "Die Antwortzeiten sind an eine Länge von {length} angepasst ({column}), weil sie mit der "
    "Länge hoch {power:.2} wachsen.",
    "length.adjusted_characters": "Die Antwortzeiten sind an eine Länge von {length} Zeichen angepasst ({column}), "
    "weil sie mit der Länge hoch {power:.2} wachsen.",
    "length.missing": "{n:trial} ohne Länge in {column}, daher nicht angepasst.",
    "length.no_column": "Es gibt keine Spalte {column} für die Länge.[[ Ist {meant} gemeint?]] Zu nennen ist eine "
    "Spalte mit dem Satz oder seiner Länge.",
    "length.neither": "Die Spalte {column} enthält weder Texte noch Längen als Zahlen.",
    "answers.right": "{right} von {trials} Trials richtig ({needed} nötig)[[, {unanswered} unbeantwortet]]; wer rät, "
    "besteht mit p {p:p}[[; {neutral} von {answers:answer} neutral (höchstens {neutral_at_most:%} erlaubt)]]",
    "answers.right_by_status": "[[{grammatical_right} von {grammatical_trials} grammatischen Trials richtig "
    "({grammatical_needed} nötig); ]][[{ungrammatical_right} von {ungrammatical_trials} ungrammatischen Trials "
    "richtig ({ungrammatical_needed} nötig); ]][[{unanswered} unbeantwortet; ]]wer rät, besteht mit p {p:p}[[; "
    "{neutral} von {answers:answer} neutral (höchstens {neutral_at_most:%} erlaubt)]]",
    "passing.no_trials": "kein bewertbarer Trial wurde gezeigt[[; {neutral} von {answers:answer} neutral (höchstens "
    "{neutral_at_most:%} erlaubt)]]",
    "passing.nothing_required": "{slips:slip} bei {n} erlaubt, daher wird nichts verlangt[[; {neutral} von "
    "{answers:answer} neutral (höchstens {neutral_at_most:%} erlaubt)]]",
    "passing.too_few": "zu wenige Trials, weil durch Raten alle {n} mit p {p:p} richtig wären[[; {neutral} von "
    "{answers:answer} neutral (höchstens {neutral_at_most:%} erlaubt)]]",
    "passing.guessing": "Wer rät, besteht mit p {p:p}, mehr als alpha ({alpha:.2r+}).",
    "passing.nobody_judged": "Niemand konnte bewertet werden: {why}.",
    "passing.bad_alpha": "alpha muss eine Wahrscheinlichkeit zwischen 0 und 1 sein und ist {value}.",
    "passing.bad_slips": "slips muss eine ganze Zahl ab 0 sein und ist {value}.",
    "answers.no_trials": "Es gibt keine Trials mit der Funktion {function}. Sie sind in der Spalte function zu "
    "kennzeichnen.",
    "answers.status_filled": "{n:trial} ohne Status, der von anderen Trials mit denselben richtigen Antworten "
    "übernommen wird.",
    "answers.left_out": "{n:trial} ausgelassen, weil die richtige Antwort nicht bekannt ist.[[ {why}]][[ ({more} "
    "weitere solche Probleme.)]]",
    "answers.chance_unknown": "Wie oft man durch Raten richtig liegt, ist nicht bekannt. {why}[[ ({more} weitere "
    "solche Probleme.)]]",
    "answers.no_key": "Kein Trial gibt an, welche Antwort richtig ist (Spalte expected), daher ist nicht bekannt, "
    "wie oft man durch Raten richtig liegt.",
    "answers.use_pairs": "{error} Solche Trials paarweise bewerten: account = \"pairwise\".",
    "answers.fix_expected": "{error} Die Spalte expected berichtigen.",
    "answers.other_status": "{n:trial} weder grammatisch noch ungrammatisch, ausgelassen.",
    "answers.counted_together": "Die Spalte status nennt nicht beide Arten von Sätzen, daher zählen alle Bewertungen "
    "zusammen.",
    "answers.chances_differ": "Die Trials einer Gruppe unterscheiden sich darin, wie oft man durch Raten richtig "
    "liegt, daher besteht, wer rät, höchstens mit der gezeigten Wahrscheinlichkeit.",
    "answers.not_published": "Die veröffentlichte Regel gilt für Bewertungen beider Arten von Sätzen, daher werden "
    "diese Antworten stattdessen gezählt.",
    "answers.bad_account": "account muss eines von {accounts} sein und ist {value}.",
    "pairs.right": "schlechterer Satz in {right} von {trials:pair} nicht bevorzugt ({needed} nötig)[[, {unanswered} "
    "mit fehlender Antwort]]; wer rät, besteht mit p {p:p}",
    "pairs.none": "kein vollständiges Paar gesehen",
    "pairs.nobody_saw_one": "Niemand hat beide Sätze eines Paars gesehen. Die Partner sind in der Spalte pair zu "
    "nennen, und in der Spalte status, welcher grammatisch ist.",
    "pairs.no_partner": "{n:trial} ohne Partner oder Status ausgelassen.",
    "pairs.half_seen": "{n:pair} ausgelassen, weil nur einer der Sätze gesehen wurde.",
    "pairs.rated_equally": "{n:pair} gleich bewertet, obwohl die Wahrscheinlichkeit, durch Raten zu bestehen, keinen "
    "Gleichstand annimmt.",
    "pairs.categories": "Der paarweise Vergleich braucht Wahlen oder Bewertungen, weil Kategorien keine Reihenfolge "
    "haben.",
    "controls.relational": "Mittel {grammatical:.2} für grammatische und {ungrammatical:.2} für ungrammatische "
    "Kontrollen (das erste muss höher sein); wer rät, besteht mit p {p:p}",
    "controls.extended": "Mittel {grammatical:.2} für grammatische und {ungrammatical:.2} für ungrammatische "
    "Kontrollen (eine Differenz von {apart} ist nötig); wer rät, besteht mit p {p:p}",
    "controls.strict": "Mittel {grammatical:.2} für grammatische und {ungrammatical:.2} für ungrammatische "
    "Kontrollen, {slips} auf der falschen Seite oder unbeantwortet (mindestens {least} und höchstens {most} nötig, "
    "ohne Fehler); wer rät, besteht mit p {p:p}",
    "controls.not_both": "nicht beide Arten von Kontrollsätzen wurden gezeigt",
    "controls.not_ratings": "Die Antworten sind richtig oder falsch und keine Bewertungen, daher lässt sich "
    "{account:quoted} nicht anwenden.",
    "controls.few_for_means": "Mittelwerte behandeln Bewertungen als Zahlen, was mindestens {enough} Trials je "
    "Bedingung voraussetzt; manche Teilnehmende haben nur {fewest}.",
    "controls.published_only_positional": "published ist eine Regel von account = \"positional\" und lässt sich "
    "nicht mit slips verbinden.",
    "controls.neutral_only_positional": "neutral_at_most ist eine Regel von account = \"positional\".",
    "controls.no_slips": "account = \"{account}\" hat keine slips. Sie gehören zu account = \"positional\".",
    "controls.several_scales": "account = \"{account}\" braucht Bewertungen auf einer Skala mit Punkten, aber diese "
    "Kontrollen haben mehrere Skalen.",
    "controls.other_scale": "account = \"{account}\" braucht Bewertungen auf einer Skala mit Punkten, aber diese "
    "Kontrollen haben eine Skala der Art {scale}.",
    "controls.status_missing": "account = \"{account}\" vergleicht grammatische mit ungrammatischen Kontrollen, aber "
    "die Spalte status nennt nicht beide.",
    "neutral.middle": "Die Skala nennt keinen neutralen Punkt, daher gilt ihre Mitte ({points:or}).",
    "neutral.no_point": "Die Skala der Kontrollen hat keinen neutralen Punkt, daher fällt durch neutral_at_most "
    "niemand auf.",
    "neutral.guessing_at_most": "Auch zu viele neutrale Antworten führen zum Nichtbestehen, daher besteht, wer rät, "
    "höchstens mit der gezeigten Wahrscheinlichkeit.",
    "neutral.bad_share": "neutral_at_most muss ein Anteil zwischen 0 und 1 sein und ist {value}.",
    "sensitivity.undefined": "d′ und c sind für {undefined} von {participants:participant} nicht definiert. Sie "
    "brauchen Antworten auf Trials mit beiden richtigen Antworten, ja und nein.",
    # ==================== screen: answers, sequences, credence ====================
    "answering.nobody": "Außerhalb der Übung wurde kein Trial beantwortet.",
    "answering.none": "keine Antworten außerhalb der Übung",
    "straightlining.settings": "`alpha` muss zwischen 0 und 1 liegen, und `shares` muss „own“ oder „even“ sein.",
    "straightlining.same": "immer dieselbe Antwort {answer:quoted} ([[{trials:trial}]][[{answers:answer}]])"
    "[[ (Antworten auf der Skala {scale})]]",
    "straightlining.run": "die Antwort {answer:quoted} {run:time} hintereinander, bei "
    "[[{trials:trial}]][[{answers:answer}]][[ (Antworten auf der Skala {scale})]]",
    "straightlining.period": "Antworten wiederholen sich mit der Periode {period}; {equal} von {comparisons} stimmen "
    "überein[[ (Antworten auf der Skala {scale})]]",
    "straightlining.left": "die linke Seite bei {chosen} von {choices} Paaren[[ (Antworten auf der Skala {scale})]]",
    "straightlining.right": "die rechte Seite bei {chosen} von {choices} Paaren[[ (Antworten auf der Skala {scale})]]",
    "straightlining.no_pattern": "kein Muster; die längste Folge gleicher Antworten hat {run} von "
    "[[{trials:trial}]][[{answers:answer}]]",
    "inconsistency.no_repeats": "Kein Item wurde von derselben Person mehrfach beantwortet, daher gibt es keine "
    "wiederholten Fragen zu vergleichen.",
    "inconsistency.not_judged": "{participants:participant} mit zu wenigen wiederholten Fragen oder auf Skalen ohne "
    "Enden, um Aufmerksamkeit von Raten zu unterscheiden: nicht beurteilt.",
    "inconsistency.upper": "`upper` muss größer als 0 sein, ist aber {upper}.",
    "inconsistency.several_scales": "Die wiederholten Fragen haben verschiedene Skalen, daher sind Unterschiede "
    "Anteile an der Breite der jeweiligen Skala.",
    "inconsistency.no_deviation": "Mindestens die Hälfte der Werte ({scores:score}) beträgt {median:.2}, sodass die "
    "mittlere absolute Abweichung vom Median 0 ist und jeder Wert über dem Median auffällt, wie klein der "
    "Unterschied auch ist. Die Werte selbst sollten geprüft werden.",
    "inconsistency.steps": "Antworten auf {questions:repeated question} liegen {difference:.2} Skalenstufen "
    "auseinander (quadratisches Mittel, {comparisons:comparison})[[; Raten ergibt höchstens {limit:.2}]][[ mit p = "
    "{p:.3r}]]",
    "inconsistency.widths": "Antworten auf {questions:repeated question} liegen {difference:.2} der Skalenbreite "
    "auseinander (quadratisches Mittel, {comparisons:comparison})[[; Raten ergibt höchstens {limit:.2}]][[ mit p = "
    "{p:.3r}]]",
    "inconsistency.once": "keine Frage wurde zweimal beantwortet",
    "scale_use.neutral_at_most": "`neutral_at_most` muss ein Anteil von 0 bis 1 sein, ist aber {neutral_at_most}.",
    "scale_use.no_neutral_point": "Die Skala hat keinen neutralen Punkt, daher kann niemand auffallen. Die "
    "übrigen Spalten dienen nur der Information.",
    "scale_use.only_test_items": "Nur von Test-Items sind Status oder erwartete Antwort bekannt, daher beschreiben "
    "Kontrast und Kompression die Test-Items.",
    "scale_use.no_clear_items": "Von keinem Item ist bekannt, ob es hoch oder niedrig bewertet werden sollte (Spalten "
    "status und expected), daher lassen sich Kontrast und Kompression nicht berechnen.",
    "scale_use.no_contrast": "Die mittlere Person bewertet hohe Items nicht höher als niedrige, daher lässt sich die "
    "Kompression nicht berechnen.",
    "scale_use.neutral": "neutral: {neutral} von {answers:answer}; häufigste Antwort: {commonest:quoted} ({share:%})"
    "[[; nicht auffällig, weil auch die anderen dieselben Stimuli zu {others:%} neutral beantwortet haben]]"
    "[[; bei weniger als {fewest:answer} ist niemand auffällig]]",
    "scale_use.commonest": "die Skala hat keinen neutralen Punkt; häufigste Antwort: {commonest:quoted} ({share:%})",
    "even_odd.at_least": "`at_least` muss eine Korrelation von −1 bis 1 sein, ist aber {at_least}.",
    "even_odd.few_groups": "Nötig sind mindestens {fewest:group} mit zwei oder mehr Antworten, und keine Person hat "
    "mehr als {most} (gruppiert nach {columns:and}). Mit `groups` lassen sich andere Spalten nennen, die "
    "unterscheiden, was gefragt wird.",
    "even_odd.unknown_group": "Es gibt keine Spalte {name}, nach der Antworten gruppiert werden könnten."
    "[[ Ist {close} gemeint?]]",
    "even_odd.empty_groups": "`groups` nennt keine Spalte. Die Einstellung kann entfallen oder eine Spalte wie status "
    "nennen.",
    "even_odd.groups": "Die Antworten sind gruppiert nach {columns:and}.",
    "even_odd.left_out": "Nicht zum Gruppieren verwendet: {columns:and}. Die Gruppen hätten sonst kaum zwei Antworten.",
    "even_odd.low_median": "Der Median der Werte ist {median:.2r+}. Diese Gruppen unterscheiden sich kaum in den "
    "Antworten, daher sagt ein niedriger Wert wenig über eine Person. Mit `groups` lassen sich andere Spalten nennen, "
    "die unterscheiden, was gefragt wird.",
    "even_odd.correlation": "zwei Hälften der Antworten korrelieren mit {score:.2r+} (korrigiert; {groups:group}, "
    "{answers:answer})",
    "even_odd.few": "nicht berechnet: {groups:group} mit zwei oder mehr Antworten, nötig sind {fewest}",
    "even_odd.same": "nicht berechnet: die Mittelwerte einer Hälfte sind überall gleich ({groups:group})",
    "mahalanobis.alpha": "`alpha` muss eine Wahrscheinlichkeit zwischen 0 und 1 sein, ist aber {alpha}.",
    "mahalanobis.nothing_shared": "Keine zwei Personen haben denselben Stimulus beantwortet, daher lassen sie sich "
    "nicht vergleichen.",
    "mahalanobis.distance": "quadrierter Abstand {squared:.1+} bei {answers:answer}, p [[= {p:.3r+}]]"
    "[[< {p_below:.3r}]][[; nicht auffällig, weil Antworten mit {agreement:.2r+} mit denen der anderen korrelieren]]"
    "[[; bei weniger als {fewest:answer} ist niemand auffällig]]",
    "mahalanobis.no_answers": "nicht berechnet: keine Antworten auf Stimuli, die auch andere beantwortet haben",
    "mahalanobis.few_participants": "Bei {participants:participant} und {stimuli:stimulus} lässt sich die Kovarianz "
    "einzelner Paare nicht schätzen. Für alle Paare wird dieselbe Korrelation angenommen, und die Wahrscheinlichkeiten "
    "sind Näherungen.",
    "mahalanobis.few_answers": "Die Stimuli haben im Mittel je {mean:.1} Antworten. Bei weniger als {fewest} fallen "
    "die Abstände zu klein aus, und kaum jemand fällt auf.",
    "mahalanobis.no_variance": "Alle Personen haben jeden Stimulus gleich beantwortet, daher sind alle Abstände 0.",
    "mahalanobis.single_answers": "{answers:answer} auf Stimuli, die nur eine Person beantwortet hat, "
    "{answers:wurde|wurden} weggelassen.",
    "person_total.at_least": "`at_least` muss eine Korrelation von −1 bis 1 sein, ist aber {at_least}.",
    "person_total.few_stimuli": "Nötig sind mindestens {fewest:stimulus}, die auch {others} andere beantwortet haben, "
    "und keine Person hat mehr als {most}.",
    "person_total.left_out": "Verglichen wird nur eine Art von Antworten: {kind:word}. Weggelassen: {left_out:and}.",
    "person_total.correlation": "Antworten korrelieren mit {score:.2r+} mit denen der anderen ({stimuli:stimulus}, je "
    "{others:.1} andere)",
    "person_total.unclear": "Antworten korrelieren mit {score:.2r+} mit denen der anderen, aber {stimuli:stimulus} "
    "sind zu wenig, um dies von den üblichen {usual:.2r+} zu unterscheiden",
    "person_total.lone": "Antworten korrelieren mit {score:.2r+} mit denen der anderen, aber alle außer einer oder "
    "zweien sind gleich ({stimuli:stimulus})",
    "person_total.few": "nicht berechnet: {stimuli:stimulus} auch von {fewest_others} anderen beantwortet, nötig sind "
    "{fewest}",
    "person_total.same": "nicht berechnet: immer dieselbe Antwort ({stimuli:stimulus})",
    "person_total.others_same": "nicht berechnet: die mittlere Antwort der anderen ist überall gleich "
    "({stimuli:stimulus})",
    "markov.settings": "`cutoffs` muss „simulated“ oder „published“ sein, und `strategy` muss „rows“, „average“ oder "
    "„minimum“ sein.",
    "markov.alpha": "`alpha` muss eine Wahrscheinlichkeit zwischen 0 und 1 sein, ist aber {alpha}.",
    "markov.few_simulations": "Bei {simulations:simulation} kann mit alpha = {alpha} niemand auffallen (alpha "
    "wird durch die Zahl der Skalen geteilt). Nötig sind mindestens {least}, besser viel mehr.",
    "markov.no_published_minimum": "Für das Minimum gibt es keinen veröffentlichten Grenzwert. Möglich sind die "
    "Strategien rows und average oder simulierte Grenzwerte.",
    "markov.published_for_two": "Die veröffentlichten Grenzwerte gelten für zwei Antworten. Möglich sind simulierte "
    "Grenzwerte.",
    "markov.published_length": "Die veröffentlichten Grenzwerte gelten für 80 Trials; hier sind es pro Person etwa "
    "{answers:answer}.",
    "markov.scale_answers": "die Skala {scale} mit {levels:answer}",
    "markov.scale_numbers": "die Skala {scale} mit Zahlen",
    "markov.scale_short": "die Skala {scale}, auf der niemand {least:answer} gegeben hat",
    "markov.no_crowd": "Stimuli wurden im Mittel von weniger als drei Personen beurteilt, daher haben in der "
    "Simulation alle dieselben Anteile von Antworten.",
    "markov.no_sequences": "Für Übergänge sind Folgen von mindestens {least:answer} auf einer Skala mit 2 bis "
    "{most_levels} Antworten nötig, und es gibt keine.[[ Vorhanden: {scales:and}.]]",
    "markov.left_out": "Weggelassene Skalen: {scales:and}.",
    "markov.same_majority": "Alle Stimuli haben dieselbe Mehrheitsantwort, daher lässt sich ihr Verhältnis nicht "
    "ändern.",
    "markov.many_stimuli": "{stimuli:stimulus} sind zu viele für einen Vergleich in Teilen (höchstens {most}). Das "
    "Kriterium kann entfallen, oder Items werden so benannt, dass Personen sie teilen.",
    "markov.missed": "In Simulationen mit {answers:answer} übersehen die Grenzwerte diese Anteile der Personen, die "
    "einem Muster folgen: {missed}. Mehrheitsantworten: {balance}.",
    "markov.few_answers": "{answers:answer}, zu wenig für Übergänge",
    "markov.primary_choice": "Antworten bleiben bei einer Wahl ({way}): {measure:word} {score:.2+}, unter {cutoff:.2+}"
    "[[, p {p:p}]][[ (Antworten von {scale})]]",
    "markov.stay": "jede Antwort wiederholt die vorige: {measure:word} {score:.2+}, unter {cutoff:.2+}"
    "[[, p {p:p}]][[ (Antworten von {scale})]]",
    "markov.repeated_pattern": "Antworten durchlaufen {way}: {measure:word} {score:.2+}, unter {cutoff:.2+}"
    "[[, p {p:p}]][[ (Antworten von {scale})]]",
    "markov.random_guessing": "jede Antwort folgt gleich oft auf jede andere: {measure:word} {score:.2+}, unter "
    "{cutoff:.2+}[[, p {p:p}]][[ (Antworten von {scale})]]",
    "markov.near_primary_choice": "kein Muster; am nächsten: immer {way}[[, {measure:word} {score:.2+}, nicht unter "
    "{cutoff:.2+}]][[, p {p:p}]][[ (Antworten von {scale})]]",
    "markov.near_stay": "kein Muster; am nächsten: Wiederholen der vorigen Antwort[[, {measure:word} {score:.2+}, "
    "nicht unter {cutoff:.2+}]][[, p {p:p}]][[ (Antworten von {scale})]]",
    "markov.near_repeated_pattern": "kein Muster; am nächsten: Durchlaufen von {way}[[, {measure:word} {score:.2+}, "
    "nicht unter {cutoff:.2+}]][[, p {p:p}]][[ (Antworten von {scale})]]",
    "markov.near_random_guessing": "kein Muster; am nächsten: gleichmäßig zufällig[[, {measure:word} {score:.2+}, "
    "nicht unter {cutoff:.2+}]][[, p {p:p}]][[ (Antworten von {scale})]]",
    "risk.no_right_answers": "Es sind keine richtigen Antworten bekannt, daher ist die Genauigkeit die Übereinstimmung "
    "mit der Mehrheit.",
    "risk.no_majority": "Kein Item hat eine Mehrheitsantwort. Nötig sind richtige Antworten in der Spalte expected.",
    "risk.criteria": "`criteria` muss markov, deletion oder beide nennen.",
    "risk.not_flagged": "nach keinem Kriterium der Antworten auffällig",
    "risk.accuracy": "{level:word} ({score} von 3): nach einem Kriterium der Antworten auffällig[[, mit {run} gleichen "
    "Antworten in Folge]]; mittlere Zeit {time:word}; Genauigkeit {accuracy:word}",
    "risk.agreement": "{level:word} ({score} von 3): nach einem Kriterium der Antworten auffällig[[, mit {run} "
    "gleichen Antworten in Folge]]; mittlere Zeit {time:word}; Übereinstimmung mit der Mehrheit {accuracy:word}",
    "credence.below": "`below` muss eine Wahrscheinlichkeit zwischen 0 und 1 sein, ist aber {below}.",
    "credence.few_participants": "Alle Personen werden mit den anderen verglichen, daher sind mindestens "
    "{fewest:participant} nötig.",
    "credence.few_answers": "Mindestens eine Person muss {fewest:answer} gegeben haben, und niemand hat so viele "
    "gegeben.",
    "credence.classes": "Antworten auf der Skala {scale} sind in {classes} Klassen eingeteilt, die insgesamt gleich "
    "häufig sind.",
    "credence.numbers_in_parts": "Antworten, die Zahlen sind, werden anhand aller Antworten in Klassen eingeteilt; in "
    "Teilen geht das für höchstens {most:participant}.",
    "credence.share": "Schätzungsweise {share:%} der Teilnehmenden haben aufmerksam geantwortet, gelernt aus diesen "
    "Urteilen.",
    "credence.little_evidence": "{participants:participant} {participants:hat|haben} weniger als {fewest:answer} "
    "gegeben. Bei so wenigen Antworten bleibt die Wahrscheinlichkeit nahe der aller Teilnehmenden.",
    "credence.no_times": "Es gibt keine Antwortzeiten, daher lassen sich Eile und ein gut "
    "antwortendes Sprachmodell nicht erkennen; keine Wahrscheinlichkeit liegt über 0,99.",
    "credence.by_classes": "Klassen von Stimuli beschreiben diese Antworten besser als Stärken, daher wurde nach "
    "Klassen geurteilt. Eine Vorliebe für eine Antwort oder weniger Übereinstimmung als üblich fällt nicht auf.",
    "credence.misfit": "Das Modell beschreibt diese Daten nicht, daher wird niemand beurteilt: {figure:word} "
    "{observed:.2} in den Daten und {expected:.2} nach dem Modell.",
    "credence.many": "Mehr als ein Drittel der Teilnehmenden fällt auf ({flagged} von {participants}). Das ist "
    "ungewöhnlich. Vor einem Ausschluss sind die Aufgabe und die Antworten zu prüfen.",
    "credence.sparse": "Alle haben nur wenige von sehr vielen Stimuli beurteilt, daher wurde nicht nach Gruppen von "
    "Sprechenden gesucht.",
    "credence.two_groups": "Es gibt zwei Gruppen von Sprechenden, die unter sich übereinstimmen, mit {share:%} in der "
    "zweiten. Jede Person wird mit ihrer eigenen Gruppe verglichen.",
    "credence.drawn": "Das Modell wurde gelernt aus {drawn} von {participants:participant}, zufällig gezogen "
    "(Startwert {seed}). Der Anteil der Aufmerksamen hat dadurch einen Standardfehler von {error} Prozentpunkten.",
    "credence.left_out": "{answers:answer} auf Stimuli, die keine dieser Personen beurteilt hat, "
    "{answers:wurde|wurden} weggelassen.",
    "credence.no_answers": "keine auswertbaren Antworten",
    "credence.probability": "aufmerksam mit Wahrscheinlichkeit [[{probability:.2r+}]][[unter {below:.3r}]]"
    "[[über {above:.3r}]][[; ähnlichstes Verhalten: {behaviour:word}]][[ ab Trial {switch}]]"
    "[[ ({switch_from} bis {switch_to})]][[; dagegen: {against:word}]][[; dafür: {in_favour:word}]]"
    "[[; verglichen mit Sprechenden der Gruppe {speakers}]][[; {limit:word}]]",
    "credence.summary": "{flagged} von {participants:participant} auffällig (aufmerksam mit einer "
    "Wahrscheinlichkeit unter {below:.2r+}).",
    "credence.nothing_to_draw": "Von {participant} gibt es keine Antworten zu zeichnen.",
    "credence.unknown_participant": "Es gibt keine Person {participant}.[[ Ist {close} gemeint?]]",
    "twins.setting": "`{setting}` kann nicht {value} sein.",
    "twins.few_pairs": "Verglichen werden Paare von Teilnehmenden. Nötig sind mindestens {fewest} Paare mit {shared} "
    "gemeinsamen Items, es gibt {pairs}.",
    "twins.too_many": "Alle werden mit allen bei allen Items verglichen; das geht für höchstens {most:participant} und "
    "{cells} Zellen aus Teilnehmenden × Items; es sind {participants} × {items}.",
    "twins.pair": "stimmt mit {partner} bei {agreement:%} von {shared:item} überein, erwartet sind {expected:%}[[; "
    "ebenso mit {others} weiteren]]",
    "twins.apart": "am nächsten an {partner}: {agreement:%} von {shared:item} gleich beantwortet, erwartet "
    "{expected:%}",
    "twins.few_shared": "nicht berechnet: niemand sonst hat {fewest} derselben Items beantwortet",
    "too_regular.rate": "`rate` muss zwischen 0 und 1 liegen, ist aber {rate}.",
    "too_regular.little": "Nötig sind mindestens {participants} Teilnehmende mit je {fewest} Antworten oder "
    "Antwortzeiten.",
    "too_regular.no_times": "Es gibt nicht genug Antwortzeiten, daher wurden nur Antworten betrachtet.",
    "too_regular.few": "nicht berechnet: zu wenige Antworten und Zeiten",
    "too_regular.signs": "regelmäßiger als alle anderen: {signs:word} (Falschentdeckungsrate {p:.3r})",
    "too_regular.usual": "nicht regelmäßiger als andere",
    "platform_flags.setting": "`{setting}` kann nicht {value} sein.",
    "platform_flags.none": "Die Tabelle der Teilnehmenden hat weder Felder der Betrugserkennung von Qualtrics "
    "(Q_RecaptchaScore und andere) noch Echtheitsprüfungen von Prolific.",
    "platform_flags.flag": "{column} ist {value}",
    "platform_flags.flagged": "von der Plattform markiert: {flags:and}[[; gemischt: {mixed:and}]]",
    "platform_flags.clear": "{n} Felder der Plattform, keines auffällig[[; gemischt: {mixed:and}]]",
    "platform_flags.empty": "die Felder der Plattform sind leer",
    "word.sign.answers": "Antworten folgen dem Konsens",
    "word.sign.marks": "Antwortzeiten ohne Spuren des Lesens",
    "word.sign.spread": "Antwortzeiten unterscheiden sich kaum",
    "word.follows the consensus closely": "folgt dem Konsens eng",
    "probes.at_least": "`at_least` muss mindestens zwei sein, ist aber {at_least}: Ein Treffer allein schließt "
    "niemanden aus.",
    "probes.none": "Es gibt keine Antworten auf Honeypots, Schibboleths oder Modalitätsprüfungen mit erwarteter "
    "Antwort.",
    "probes.hit": "{hits} von {probes} Proben wie von Programmen beantwortet: {items:and}",
    "probes.clear": "{probes} Proben wie von Menschen beantwortet",
    "probes.unseen": "hat keine Proben gesehen",
    "word.ordered": "geordnet",
    "word.choice": "Auswahl",
    "word.primary choice": "bevorzugte Antwort",
    "word.repeated pattern": "wiederholtes Muster",
    "word.random guessing": "Raten",
    "word.intermittent lapses": "gelegentliche Aussetzer",
    "word.rushing": "Durchklicken",
    "word.largest row divergence": "größte Divergenz einer Zeile",
    "word.aKLD": "mittlere Divergenz (aKLD)",
    "word.mKLD": "kleinste Divergenz (mKLD)",
    "word.not below the mean": "nicht unter dem Mittel",
    "word.below the mean": "unter dem Mittel",
    "word.far below the mean": "mehr als eine Standardabweichung unter dem Mittel",
    "word.not known": "nicht bekannt",
    "word.risk high": "hohes Risiko",
    "word.risk moderate": "mittleres Risiko",
    "word.risk undetermined": "unbestimmtes Risiko",
    "word.misfit.agreement": "zwei aufmerksame Personen stimmen überein mit Wahrscheinlichkeit",
    "word.misfit.spread": "die Standardabweichung der Übereinstimmung über Stimuli beträgt",
    "word.misfit.entropy": "die mittlere Entropie der Antworten auf einen Stimulus (von 0 bis 1) beträgt",
    "word.misfit.runs": "dieselbe Taste folgt auf sich selbst mit Wahrscheinlichkeit",
    "word.misfit.flagged": "die überzufällige Übereinstimmung der Auffälligen, relativ zu den anderen, beträgt",
    "word.limit.agrees": "Übereinstimmung mit den anderen liegt über dem Zufall",
    "word.limit.alone": "die meisten Antworten gelten Stimuli, die sonst niemand aufmerksam beurteilt hat",
    "word.limit.close": "Antworten folgen den anderen zu genau, um ohne Antwortzeiten sicher zu sein",
    "word.evidence.agreement": "Übereinstimmung mit den anderen",
    "word.evidence.controls": "Kontroll- und Aufmerksamkeits-Trials",
    "word.evidence.sequence": "die Abfolge der Antworten",
    "word.evidence.times": "Antwortzeiten",
    # ==================== screen: crowd (Spammer-Index, deletion, procedure, sources) ====================
    "crowd.no_categories": "Nötig sind Antworten in Kategorien (ja oder nein, Bewertungen, Labels oder "
    "Auswahlen), doch es gibt keine.",
    "crowd.several_scales": "Es gibt mehrere Skalen. Nur die Antworten auf der Skala {scale} wurden verwendet "
    "({answers:answer}).",
    "crowd.no_column": "Es gibt keine Spalte {column}.[[ Ist {close} gemeint?]]",
    "crowd.too_few": "Nötig sind mindestens zwei Personen und zwei Items.",
    "crowd.same_answer": "Alle Personen gaben dieselbe Antwort; es gibt nichts zu vergleichen.",
    "crowd.not_fitted": "Das Modell kann nicht angepasst werden ({answers:answer} in {categories} Kategorien), "
    "weil einige Kategorien zu selten sind. Seltene Kategorien zusammenfassen oder mehr Antworten erheben.",
    "crowd.too_many_labels": "{participants:participant} × {items:item} mit {labels} Labels sind zu viele für "
    "ein nominales Modell. Einen Teil der Items verwenden, am besten die mit den meisten Antworten "
    "(karat.screen.spammer_index in Python, mit ihren Urteilen). Oder die Labels zu zweien zusammenfassen, deren "
    "Modell viel kleiner ist, bei einer Million Antworten aber langsam (karat convert FILE --answers "
    "a=a,b=rest,c=rest --scale nominal:a,rest -o OUT).",
    "spammer_index.low": "Spammer-Index {value:.3r} [{lower:.3r}; {upper:.3r}]: kein Anzeichen, dass viele "
    "Personen antworteten, ohne die Items zu beachten.",
    "spammer_index.suspicious": "Spammer-Index {value:.3r} [{lower:.3r}; {upper:.3r}]: etwa {suspicious} von "
    "{participants:participant} könnten geantwortet haben, ohne die Items zu beachten.",
    "spammer_index.raised": "Spammer-Index {value:.3r} [{lower:.3r}; {upper:.3r}]. Daraus folgt keine Zahl "
    "unachtsamer Personen: {why:and}. Auch eine andere Nutzung der Skala, Dialekte und ähnliche Items erhöhen ihn.",
    "spammer_index.ordered": "die Antworten sind Bewertungen",
    "spammer_index.items_alike": "die Items unterscheiden sich weniger als Antworten auf dasselbe Item",
    "spammer_index.alone": "kein Kriterium wurde damit verglichen",
    "spammer_index.no_criterion": "nach keinem Kriterium fallen ähnlich viele Personen auf",
    "spammer_index.simulations": "`simulations` muss mindestens 0 sein, nicht {simulations}.",
    "spammer_index.no_variance": "Dieses Modell hat keine einzelne Varianz der Personen.",
    "spammer_index.rounds_of_labels": "Runden (Spalte {column}) bleiben unberücksichtigt, weil das Modell der "
    "Labels keine Effekte der Zeit nach Person oder Item hat.",
    "spammer_index.nothing_varies": "Im Modell dieser Antworten variiert nichts; der Anteil ist nicht definiert.",
    "spammer_index.no_lower_end": "Das untere Ende des Profilintervalls wurde nicht gefunden und ist auf 0 "
    "gesetzt. Mit simulations = 199 wird stattdessen ein Bootstrap-Intervall berechnet.",
    "spammer_index.no_upper_end": "Das obere Ende des Profilintervalls wurde nicht gefunden und ist auf 1 "
    "gesetzt. Mit simulations = 199 wird stattdessen ein Bootstrap-Intervall berechnet.",
    "spammer_index.no_sample": "Keine Stichprobe des Bootstraps konnte angepasst werden. `simulations` weglassen.",
    "spammer_index.lost_samples": "{lost} {lost:Bootstrap-Stichprobe|Bootstrap-Stichproben} ausgelassen, weil "
    "eine Antwortkategorie fehlte oder die Anpassung kein Maximum hatte.",
    "spammer_index.pooled": "Der Index von Labels hängt von der Referenzkategorie ab und ist deshalb über alle "
    "Referenzkategorien zusammengefasst.",
    "spammer_index.no_category_variances": "Labels brauchen ein Modell mit einer Varianz je Kategorie.",
    "spammer_index.bootstrap_baseline": "Der Bootstrap verwendet das Modell mit der Referenzkategorie {baseline}.",
    "spammer_index.not_converged": "Das Modell ist nicht konvergiert[[: {reason}]].",
    "spammer_index.baseline": "Referenzkategorie {baseline}: {note}",
    "spammer_index.labels_in_rounds": "Der Index mit Runden ist für Ja-nein-Antworten und geordnete Antworten "
    "gedacht, nicht für Labels.",
    "spammer_index.rounds": "Es gibt {rounds} {rounds:Runde|Runden} (Spalte {column}). Die Varianz der Zeit ist "
    "die ihrer festen Effekte; die Varianz von Personen mal Items bleibt außen vor (siehe "
    "karat.screen.crowd.spammer_rounds).",
    "spammer_index.rounds_not_converged": "Das Modell der Runden ist nicht konvergiert: {reason}",
    "spammer_index.without_round": "{answers:answer} ohne Wert in Spalte {column} ausgelassen.",
    "spammer_index.not_quick": "Mit --criteria wird der Index nur berechnet, wenn das wenige Sekunden dauert. "
    "Ohne --criteria screenen oder karat.screen.spammer_index in Python aufrufen.",
    "spammer_index.nobody": "Nach dem Ausschluss bleiben keine Personen übrig.",
    "spammer_index.no_room": "Sein Modell passt nicht in den Arbeitsspeicher.",
    "spammer_index.too_many_answers": "Bei mehr als {answers:answer} würde er lange dauern. karat.screen.spammer_index "
    "in Python berechnet ihn trotzdem. Bei einem Ordner von Teilen (--parts) wird er aus einer Stichprobe geschätzt.",
    "spammer_index.takes_long": "Für diese Labels würde er ungefähr {minutes:minute} dauern. "
    "karat.screen.spammer_index in Python berechnet ihn trotzdem. Bei einem Ordner von Teilen (--parts) wird er "
    "aus einer Stichprobe geschätzt.",
    "spammer_index.none": "Kein Spammer-Index. {why}",
    "spammer_index.unfinished": "Die Anpassung wurde unterbrochen. Denselben Befehl noch einmal ausführen.",
    "spammer_index.no_bootstrap_in_parts": "Ein Bootstrap zieht alle Antworten neu und braucht sie im "
    "Arbeitsspeicher. Ohne `simulations` wird das Profilintervall berechnet.",
    "spammer_index.too_few_passes": "{why} Mehr als {passes} Durchgänge erlauben.",
    "spammer_index.no_interval": "Das Profilintervall wurde in {passes} Durchgängen nicht gefunden; seine Enden "
    "sind auf 0 und 1 gesetzt.",
    "spammer_index.standard_error": "Der Standardfehler des Index ist ungefähr {error:.3r}, nach dem "
    "Profilintervall der Stichprobe.",
    "spammer_index.few_rounds_held": "Nur die Runden weniger Personen passen in den Arbeitsspeicher "
    "({participants:participant}), zu wenige für ein Modell.",
    "spammer_index.thin_items": "{participants:participant} × {items:item} mit {labels} Labels sind zu viele für "
    "ein nominales Modell, und eine Stichprobe, die sich anpassen lässt ({sample_participants:participant}, "
    "{sample_items:item}), hat nur {mean:.1} Antworten je Item; nötig sind {least}. Einen Teil der Items "
    "verwenden, am besten die mit den meisten Antworten (karat.screen.spammer_index in Python, mit ihren "
    "Urteilen). Oder die Labels zu zweien zusammenfassen, deren Modell viel kleiner ist, bei einer Million "
    "Antworten aber langsam (karat convert FILE --answers a=a,b=rest,c=rest --scale nominal:a,rest -o OUT).",
    "spammer_index.thin_participants": "{participants:participant} × {items:item} mit {labels} Labels sind zu viele "
    "für ein nominales Modell, und eine Stichprobe, die sich anpassen lässt ({sample_participants:participant}, "
    "{sample_items:item}), hat nur {mean:.1} Antworten je Person; nötig sind {least}. Einen Teil der Items verwenden, "
    "am besten die mit den meisten Antworten (karat.screen.spammer_index in Python, mit ihren Urteilen). Oder die "
    "Labels zu zweien zusammenfassen, deren Modell viel kleiner ist, bei einer Million Antworten aber langsam (karat "
    "convert FILE --answers a=a,b=rest,c=rest --scale nominal:a,rest -o OUT).",
    "spammer_index.sample": "Das Modell liegt ganz im Arbeitsspeicher und wurde deshalb an eine "
    "Zufallsstichprobe angepasst (Startwert {seed}): {answers:answer} von {sample} der insgesamt "
    "{participants:participant}[[ zu {sample_items} der insgesamt {items:item}]].",
    "index_by_share.shares": "`shares` müssen Zahlen von 0 bis unter 1 sein.",
    "index_by_share.too_few": "Von der Art {kind} sind {needed:participant} mit eigenen Namen nötig, doch es "
    "gibt {known}.",
    "frozen.rules": "Die Regeln wurden nach Beginn der Studie geändert: {changes}.",
    "frozen.added": "{criterion} kam hinzu",
    "frozen.removed": "{criterion} fiel weg",
    "frozen.defaults": "Voreinstellungen von karat haben sich nach Beginn der Studie geändert. Was die Studiendatei "
    "nicht festlegt, kann abweichen.",
    "frozen.items": "Items wurden nach Beginn der Studie geändert: {items}[[ und {more} weitere]].",
    "deletion.not_compared": "keine Antworten, die sich vergleichen lassen",
    "deletion.published": "ohne diese {answers:answer} sinkt die Devianz des Modells um {distance:.1+}; nach der "
    "veröffentlichten Regel sind {limit:.1} und mehr ungewöhnlich[[ (simuliert p = {p:.3r+})]][[ (simuliert p < "
    "{p_below:.3r})]]",
    "deletion.unusual": "ohne diese {answers:answer} sinkt die Devianz des Modells um {distance:.1+}; unter neu "
    "gezogenen Antworten p[[ = {p:.3r+}]][[ < {p_below:.3r}]], unter {alpha:.2r+}",
    "deletion.agrees": "ohne diese {answers:answer} sinkt die Devianz des Modells um {distance:.1+}; unter neu "
    "gezogenen Antworten p[[ = {p:.3r+}]][[ < {p_below:.3r}]]; nicht auffällig, weil sie mit den Antworten der anderen "
    "überzufällig übereinstimmen",
    "deletion.few": "ohne diese {answers:answer} sinkt die Devianz des Modells um {distance:.1+}; unter neu "
    "gezogenen Antworten p[[ = {p:.3r+}]][[ < {p_below:.3r}]]; nicht auffällig, weil es zu wenige Antworten sind",
    "deletion.usual": "ohne diese {answers:answer} sinkt die Devianz des Modells um {distance:.1+}; unter neu "
    "gezogenen Antworten p[[ = {p:.3r+}]][[ < {p_below:.3r}]], nicht unter {alpha:.2r+}",
    "deletion.alpha": "`alpha` muss eine Wahrscheinlichkeit zwischen 0 und 1 sein, nicht {alpha}.",
    "deletion.too_many": "Die Auslassungsanalyse passt das Modell ohne jede einzelne Person neu an "
    "({participants:participant}), was lange dauert. Um es trotzdem zu tun, deletion = {{ at_most = {at_most} }} "
    "unter [screening] in die Studiendatei oder eine Datei für --rules schreiben, oder at_most={at_most} in "
    "Python verwenden.",
    "deletion.takes_long": "Bei {labels:label} würde es ungefähr {minutes:minute} dauern, das Modell ohne jede "
    "einzelne Person neu anzupassen. Um es trotzdem zu tun, deletion = {{ at_most = {at_most} }} unter [screening] in "
    "die Studiendatei oder eine Datei für --rules schreiben, oder at_most={at_most} in Python verwenden.",
    "deletion.by": "`by` muss published oder simulated sein, nicht {by}.",
    "deletion.simulations": "`simulations` muss mindestens 0 sein, nicht {simulations}.",
    "deletion.too_few": "Mit {simulations} {simulations:Simulation|Simulationen} kann kein p unter {alpha:.2r+} "
    "liegen, sodass niemand auffallen könnte. Mindestens {least} verwenden, besser viel mehr.",
    "deletion.flags_most": "Nach der veröffentlichten Regel fallen die meisten Personen auf: Bei mehr als zwei "
    "Antwortkategorien ist ihre Chi-Quadrat-Verteilung weit von dem entfernt, was üblich ist. Nicht danach "
    "ausschließen, sondern die simulierte Nullverteilung entscheiden lassen (by = simulated).",
    "deletion.not_converged": "Das Modell ohne jeweils eine Person ist für {participants:participant} nicht "
    "konvergiert.",
    "deletion.no_test": "Die veröffentlichte Regel ist kein Likelihood-Quotienten-Test, weil die Likelihoods von "
    "verschiedenen Daten stammen. Mit `simulations` zeigt sich, was hier üblich ist.",
    "deletion.windows": "`width` muss mindestens 2 und `step` mindestens 1 sein.",
    "procedure.no_participant": "Es gibt keine Person {participant}.[[ Ist {close} gemeint?]]",
    "procedure.go_on": "{step}: {met} von {entered} kommen weiter.",
    "procedure.verdict": "`verdict` muss \"every step\" oder \"any criterion\" sein. Das zweite braucht "
    "candidates_only=False, damit jedes Kriterium alle Personen prüft.",
    "procedure.no_index": "Das Verfahren beginnt mit dem Spammer-Index, der sich nicht berechnen lässt. {why}",
    "procedure.no_model": "Das Verfahren beginnt mit dem Spammer-Index, der kein Modell dieser Antworten hat: {why}",
    "procedure.order": "`order` muss \"markov first\" oder \"deletion first\" sein.",
    "procedure.criteria": "`criteria` muss eine Liste mit markov, deletion oder beidem sein.",
    "procedure.auxiliary": "`auxiliary` muss time, accuracy, completeness, eine Evidenz oder None sein.",
    "procedure.same_criterion": "Der Hilfsfaktor muss ein anderer sein als die Kriterien.",
    "procedure.settings": "`alpha` muss zwischen 0 und 1 liegen, `rule` mean oder mean-sd und `least_index` ein "
    "Anteil von 0 bis 1 sein.",
    "procedure.index_reached": "Anteil der Varianz zwischen Personen: {index:.3r+}, nicht unter {least:.3r+}",
    "procedure.index_below": "Anteil der Varianz zwischen Personen: {index:.3r+}, unter {least:.3r+}",
    "procedure.met": "{met} von {steps:step} erfüllt",
    "procedure.not_in_evidence": "nicht in dieser Evidenz",
    "procedure.stopped": "Der Spammer-Index liegt unter {least:.2r+}, sodass niemand weiter geprüft wurde. Mit "
    "least_index=0 werden alle Personen geprüft.",
    "procedure.not_judged": "{step}: {participants:participant} nicht beurteilbar; der Grund steht im Pfad.",
    "accuracy.no_key": "keine Antworten, deren richtige Antwort bekannt ist",
    "accuracy.right": "{per_cent:.1} % richtig, nicht unter [[{mean:.1} %, dem Mittelwert]][[{mean_sd:.1} %, "
    "eine Standardabweichung unter dem Mittelwert]]",
    "accuracy.right_below": "{per_cent:.1} % richtig, unter [[{mean:.1} %, dem Mittelwert]][[{mean_sd:.1} %, "
    "eine Standardabweichung unter dem Mittelwert]]",
    "accuracy.majority": "{per_cent:.1} % wie die Mehrheit, nicht unter [[{mean:.1} %, dem "
    "Mittelwert]][[{mean_sd:.1} %, eine Standardabweichung unter dem Mittelwert]]",
    "accuracy.majority_below": "{per_cent:.1} % wie die Mehrheit, unter [[{mean:.1} %, dem "
    "Mittelwert]][[{mean_sd:.1} %, eine Standardabweichung unter dem Mittelwert]]",
    "compare.group": "{group}: {workers:participant}, {tasks:item}: Spammer-Index {spammer_index:.3r} "
    "[{lower:.3r}; {upper:.3r}][[; {markov} auffällig nach markov]][[; {deletion} auffällig nach deletion]].",
    "compare.groups": "Nötig sind mindestens zwei Gruppen mit Namen: compare({{\"one\": judgments, \"two\": others}}).",
    "compare.not_computed": "{criterion} konnte nicht berechnet werden. {why}",
    "compare.different_items": "Die Gruppen beurteilten verschiedene Items; Unterschiede zwischen Gruppen können "
    "an den Items liegen.",
    "source_effect.adjusted": "Effekt von {source} auf {outcome}, adjustiert für {adjust}, Fehler nach Personen "
    "geclustert:",
    "source_effect.not_adjusted": "Effekt von {source} auf {outcome}, nicht adjustiert, Fehler nach Personen "
    "geclustert:",
    "source_effect.effect": "{source} minus {reference}: {estimate:.3r} [{lower:.3r}; {upper:.3r}], p {p:p} (t "
    "mit {df:df} Freiheitsgraden)",
    "source_effect.no_column": "Es gibt keine Spalte {column}.[[ Ist {close} gemeint?]]",
    "source_effect.left_out": "{answers:answer} ausgelassen, weil eine verwendete Spalte leer ist.",
    "source_effect.few_participants": "Es gibt kaum mehr Personen als Koeffizienten; die Standardfehler sind "
    "unzuverlässig.",
    "source_effect.adjustment_set": "Ein Unterschied ist nur dann ein Effekt, wenn alles, wovon Quelle und "
    "Ergebnis gemeinsam abhängen, in der Adjustierungsmenge steht.",
    "source_effect.settings": "`model` muss linear oder logistic sein, `effect` total oder direct und `errors` "
    "CR1 oder CR2.",
    "source_effect.level": "`level` muss eine Wahrscheinlichkeit zwischen 0 und 1 sein, nicht {level}.",
    "source_effect.same_column": "Quelle, Ergebnis und Adjustierungsmenge müssen verschiedene Spalten sein.",
    "source_effect.mediator": "{column} liegt zwischen {source} und {outcome} (ein Mediator): Personen einer "
    "Quelle können ungenauer sein, weil sie schneller sind, und eine Adjustierung für Zeit verdeckt das. Die "
    "Spalte weglassen, oder effect=\"direct\" verwenden, wenn der direkte Effekt gemeint ist.",
    "source_effect.one_value": "Spalte {column} hat überall denselben Wert; es gibt nichts zu vergleichen.",
    "source_effect.reference": "{reference} ist kein Wert von {source}. Die Werte sind {values}.",
    "source_effect.not_a_number": "Spalte {outcome} muss Zahlen enthalten, oder wahr und falsch.",
    "source_effect.not_binary": "Logistische Regression braucht ein Ergebnis aus 0 und 1, doch {outcome} hat "
    "andere Werte.",
    "source_effect.confounded": "{column} und {source} treten immer gemeinsam auf; diese Daten können ihre Effekte "
    "nicht trennen. {column} weglassen und berichten, dass beide gemeint sind.",
    "source_effect.redundant": "{column} folgt aus den anderen Spalten der Adjustierungsmenge. Die Spalte weglassen.",
    "source_effect.no_maximum": "Das logistische Modell hat kein Maximum, etwa weil alle Antworten einer Gruppe "
    "richtig sind. model=\"linear\" verwenden.",
    "word.cleared": "unauffällig",
    "word.not judged": "nicht beurteilt",
    "word.noted": "vermerkt",
    "word.flagged": "auffällig",
    "word.goes on": "kommt weiter",
    # ==================== screen: runs, rules, multiverse, effects, composition ====================
    "screening.flagged": "{criterion}: {flagged} von {participants:participant} auffällig.",
    "screening.not_run": "{criterion}: nicht ausgeführt.",
    "screening.nobody_left": "Es sind keine Personen übrig: Die Regeln haben schon alle ausgeschlossen.",
    "screening.not_in_parts": "Kann nicht in Teilen laufen, weil alle Personen zugleich betrachtet werden. Eine "
    "Tabelle screenen, die in den Arbeitsspeicher passt.",
    "screening.written": "Urteile: geschrieben.",
    "screening.written_before_index": "Urteile: geschrieben. Zuletzt wird der Spammer-Index berechnet.",
    "screening.skipped": "{criterion} konnte nicht ausgeführt werden. {why}",
    "screening.no_rule": "Niemand wird ausgeschlossen: Es ist keine Regel angegeben.",
    "screening.excluded": "{excluded} von {participants:participant} ausgeschlossen (Regel: {rule}).",
    "rules.any": "eines von {criteria}",
    "rules.all": "alle von {criteria}",
    "rules.number": "mindestens {rule} von {criteria}",
    "rules.applied": "{rule}[[; ohne {skipped:and}, nicht ausführbar]]",
    "rules.settings": "Die Einstellungen von {criterion} sind nicht verwendbar ({problems}).",
    "rules.not_applicable": "Die Regeln sind nicht anwendbar ({why}).",
    "rules.syntax": "Eine Regel darf nur Namen von Kriterien, and, or, not und Klammern enthalten.",
    "explain.excluded": "{participant} wurde nach der angegebenen Regel ({rule}) von der Auswertung ausgeschlossen.",
    "explain.kept": "{participant} gehört nach der angegebenen Regel ({rule}) zur Auswertung.",
    "explain.kept_flagged": "{participant} gehört nach der angegebenen Regel ({rule}) zur Auswertung, obwohl ein "
    "Kriterium angeschlagen hat.",
    "explain.no_rule": "{participant}: Es ist keine Regel angegeben, also wird niemand ausgeschlossen. Kein "
    "Kriterium hat angeschlagen.",
    "explain.no_rule_flagged": "{participant}: Es ist keine Regel angegeben, also wird niemand ausgeschlossen. "
    "Angeschlagen haben {flags} von {criteria} Kriterien.",
    "explain.no_proof": "Eine solche Wahrscheinlichkeit fasst zusammen, was ein Modell von aufmerksamen "
    "Antworten erwartet. Sie ist kein Beweis: Auch Personen, deren Sprache von der aller anderen abweicht, "
    "können eine niedrige haben.",
    "explain.passed": "Bei diesen Kriterien fiel nichts auf. {found}.",
    "explain.silent": "Diese Kriterien haben keinen Wert. {found}.",
    "explain.not_reached": "Nach dem Ausschluss nicht mehr geprüft: {criteria}.",
    "explain.no_answers": "Keine Antworten zu prüfen: {criteria}.",
    "explain.not_computed": "Für niemanden berechenbar: {criteria}.",
    "explain.payment": "Das betrifft nur, welche Antworten in die Auswertung eingehen. Es sagt nicht, warum "
    "jemand so geantwortet hat, und über die Bezahlung wird getrennt entschieden.",
    "difference.contrast": "Der Kontrast ist nicht verwendbar ({problems}). So schreiben: {{\"factor\": ..., "
    "\"levels\": [first, second]}}.",
    "difference.name": "{factor} {first} minus {second}[[ bei {where:and}]]",
    "difference.choices": "Anteil der Wahlen des ersten minus des zweiten",
    "difference.share": "Anteil von {level}",
    "difference.steps": "Stufen der Skala",
    "difference.logarithm": "Logarithmus",
    "difference.points": "Punkte der Skala",
    "difference.several_scales": "Es lässt sich kein Unterschied berechnen, weil die Antworten auf {scales} geordneten "
    "Skalen liegen.",
    "difference.no_order": "Es lässt sich kein Unterschied berechnen, weil keine Antworten zu Test-Items geordnet "
    "sind.",
    "difference.no_sides": "Es lässt sich kein Unterschied berechnen, weil bei den Auswahlen nicht angegeben ist, was "
    "links und rechts stand.",
    "difference.no_choice": "Es lässt sich kein Unterschied berechnen, weil keine Auswahl zwischen {factor} {first} "
    "und {second} besteht.",
    "difference.no_whole": "Es lässt sich kein Unterschied berechnen, weil keine Person in allen Bedingungen von "
    "{first} minus {second} geantwortet hat.",
    "difference.no_column": "Es lässt sich kein Unterschied berechnen, weil es keine Spalte {column} gibt.[[ Ist "
    "{close} gemeint?]][[ Das Design hat {columns}.]]",
    "difference.no_level": "Es lässt sich kein Unterschied berechnen, weil {column} auf Testtrials keine Stufe {level} "
    "hat.[[ Ist {close} gemeint?]][[ Vorhanden sind {levels}.]]",
    "multiverse.kept": "In {combinations} {combinations:Kombination|Kombinationen}[[, gezogen aus {possible},]] "
    "bleiben {fewest}[[ bis {most}]] von {participants:participant}[[ (wie angegeben: {stated})]].",
    "multiverse.no_difference": "Es wird kein Unterschied zwischen Bedingungen verfolgt.",
    "multiverse.stated": "Der Unterschied {contrast} ({unit}) ist mit den angegebenen Regeln {estimate:.2r}[[ "
    "(95-%-Intervall {lower:.2r} bis {upper:.2r})]].",
    "multiverse.range": "Über alle Kombinationen liegt der Unterschied[[ {contrast}]][[ ({unit})]] zwischen "
    "{low:.2r} und {high:.2r}.",
    "multiverse.same": "Der Unterschied[[ {contrast}]][[ ({unit})]] ist in allen Kombinationen {low:.2r}.",
    "multiverse.all_apart": "Sein 95-%-Intervall schließt 0 in jeder aus.",
    "multiverse.none_apart": "Sein 95-%-Intervall schließt 0 in keiner aus.",
    "multiverse.some_apart": "Sein 95-%-Intervall schließt 0 in {apart} von {combinations} aus.",
    "multiverse.missing": "In {combinations} {combinations:Kombination|Kombinationen} bleibt niemand übrig, aus "
    "dessen Antworten er sich berechnen ließe.",
    "multiverse.sample": "{sample} von {combinations} Kombinationen wurden zufällig gezogen (Startwert {seed}).",
    "multiverse.sample_with_stated": "{sample} von {combinations} Kombinationen wurden zufällig gezogen "
    "(Startwert {seed}), darunter immer die angegebene.",
    "multiverse.no_factor": "Keine Spalte des Designs hat zwei Stufen; verfolgt wird nur, wie viele Personen bleiben.",
    "alternatives.unknown": "Die Alternativen sind nicht verwendbar ({why}).",
    "alternatives.stated": "{criterion} ist mit den angegebenen Einstellungen nicht ausführbar. {why}",
    "alternatives.not_tried": "{criterion} ({setting}) wurde nicht versucht. {why}",
    "effects.compared": "{formula}, vor und nach dem Weglassen von {excluded:participant}:",
    "effects.test": "{term}: χ²({df}) = {chisq_before:.2}, p {p_before:p}; nach dem Ausschluss {chisq_after:.2}, "
    "p {p_after:p}",
    "effects.not_estimated": "{term}: χ²({df}) = {chisq_before:.2}, p {p_before:p}; nach dem Ausschluss nicht "
    "geschätzt",
    "effects.not_converged_before": "Das Modell vor dem Ausschluss ist nicht konvergiert: {reason}",
    "effects.not_converged_after": "Das Modell nach dem Ausschluss ist nicht konvergiert: {reason}",
    "effects.one_name": "`excluded` muss eine Liste von Personen sein, kein einzelner Name.",
    "effects.no_participant": "Es gibt keine Person {participant}.[[ Ist {close} gemeint?]]",
    "effects.nobody_left": "Alle Personen sind ausgeschlossen; es bleibt nichts zu vergleichen.",
    "effects.correct_column": "Die Tabelle hat eine Spalte `correct`; die richtigen Antworten dahinter wurden "
    "nicht geprüft.",
    "effects.no_column": "Es gibt keine Spalte {column}.[[ Ist {close} gemeint?]]",
    "effects.labels": "Labels haben keine Reihenfolge. Eine Spalte für das gefragte Label hinzufügen.",
    "effects.family": "Spalte {column} hat {values} verschiedene Werte. family=\"binary\", \"ordinal\" oder "
    "\"gaussian\" verwenden.",
    "effects.no_factor": "Die Formel {formula} hat keinen Faktor, dessen Mittelwerte gezeichnet werden könnten.",
    "effects.factors": "Höchstens zwei Faktoren sind darstellbar. Zwei nennen.",
    "composition.no_background": "Keine Angaben zu den Personen; Ausschlüsse lassen sich nicht zwischen Gruppen "
    "vergleichen.",
    "composition.no_evidence": "Kein Kriterium ergab Evidenz; es gibt nichts zu vergleichen.",
    "composition.excluded": "{flagged} von {participants:participant} {flagged:wurde|wurden} ausgeschlossen.",
    "composition.flagged": "{flagged} von {participants:participant} {flagged:ist|sind} nach dem "
    "Kriterium {criterion:quoted} auffällig.",
    "composition.no_group_differs": "Ein Unterschied dieses Anteils zwischen Gruppen zeigt sich nicht ({variables}).",
    "composition.groups_differ": "Verglichen nach {variables}, weichen Gruppen in {comparisons} "
    "{comparisons:Vergleich|Vergleichen} ab.",
    "composition.excluded_more": "Der Ausschluss trifft eine Gruppe stärker als die anderen: {flagged} von "
    "{participants:participant} mit {variable} = {group} wurden ausgeschlossen, von den anderen {others_flagged} "
    "von {others} (p {p:p}, adjustiert p {p_adjusted:p}).",
    "composition.excluded_less": "Der Ausschluss trifft eine Gruppe weniger als die anderen: {flagged} von "
    "{participants:participant} mit {variable} = {group} wurden ausgeschlossen, von den anderen {others_flagged} "
    "von {others} (p {p:p}, adjustiert p {p_adjusted:p}).",
    "composition.flagged_more": "Das Kriterium {criterion:quoted} trifft eine Gruppe stärker als die anderen: "
    "{flagged} von {participants:participant} mit {variable} = {group} sind auffällig, von den anderen "
    "{others_flagged} von {others} (p {p:p}, adjustiert p {p_adjusted:p}).",
    "composition.flagged_less": "Das Kriterium {criterion:quoted} trifft eine Gruppe weniger als die anderen: "
    "{flagged} von {participants:participant} mit {variable} = {group} sind auffällig, von den anderen "
    "{others_flagged} von {others} (p {p:p}, adjustiert p {p_adjusted:p}).",
    "composition.intended": "{variable} entscheidet, wer teilnehmen darf; dass der Ausschluss ihre Gruppen "
    "trifft, ist beabsichtigt.",
    "composition.too_small": "{variable}: zu wenige Personen für eine Aussage über {groups}. Bei {excluded} von "
    "{participants} Ausgeschlossenen könnte p auch beim ungleichsten Ausschluss nicht auf 0,05 fallen.",
    "background.left_out": "{column} bleibt außen vor: {why}",
    "background.simulated": "die Spalte gibt an, wie simulierte Personen antworten.",
    "background.names": "die Spalte benennt Personen.",
    "background.time": "die Spalte ist eine Zeitangabe.",
    "background.criterion": "ein Kriterium prüft die Spalte.",
    "background.same_value": "alle Personen haben denselben Wert.",
    "background.too_few_values": "die Spalte hat weniger als zwei Werte.",
    "background.all_different": "jede Person hat einen anderen Wert.",
    "background.long": "die Werte sind lange Texte.",
    "background.too_many_values": "die Spalte hat {values} verschiedene Werte, zu viele für einen Vergleich.",
    # ==================== measure: scores, strengths, contrasts, planned, order effects ====================
    "measure.level": "Das Niveau muss zwischen 0 und 1 liegen, nicht bei {level}.",
    "estimate.interval": "[{lower:.2}; {upper:.2}]",
    "unit.logits": "Logits",
    "unit.latent_logits": "Logits der latenten Skala",
    "unit.shrunken_logits": "Logits über dem mittleren Stimulus",
    "unit.answers": "Einheiten der Antworten",
    "unit.answer_deviations": "Standardabweichungen der Antworten einer Person",
    "unit.ratio_deviations": "Standardabweichungen der logarithmierten Verhältnisse einer Person",
    "unit.shares": "Anteilen der Antwort {answer:quoted}",
    "unit.points": "Punkten der Skala von {low} bis {high}",
    "unit.log_ratios": "natürlichen Logarithmen des Verhältnisses zum Modulus",
    "unit.log_magnitudes": "natürlichen Logarithmen der Größen",
    "unit.noise_deviations": "Standardabweichungen des Rauschens einer typischen Person",
    "unit.latent_deviations": "Standardabweichungen der latenten Skala",
    "unit.column": "Einheiten von {column}",
    "unit.choosing_first": "Logits der Wahl der ersten Stufe",
    "unit.log_seconds": "Logarithmen von Sekunden",
    "strengths.stimuli": "Akzeptabilitätswerte: {n:stimulus} ({model}), in {unit}.",
    "strengths.ends": "Am höchsten liegt {best} ({top}), am niedrigsten {worst} ({bottom}).",
    "strengths.no_stimulus": "Es gibt keinen Stimulus {label:quoted}.[[ Ist {close:quoted} gemeint?]]",
    "strengths.no_answer": "{n:trial} ohne Antwort {n:wurde|wurden} ausgelassen.",
    "strengths.no_order": "Antworten der Art {kind:quoted} haben keine Reihenfolge, deshalb gibt es keine "
    "Akzeptabilitätswerte. Für Labels gibt es den Konsens.",
    "strengths.no_model": "{model:quoted} ist kein Modell für Antworten der Art {kinds:and}. Möglich ist {models:or}.",
    "strengths.only_choices": "Die Option `{option}` ist für Wahlen zwischen zwei Stimuli; das Modell {model} hat "
    "sie nicht. Sie muss entfallen.",
    "strengths.no_spread": "Bei niemandem variieren die Antworten, deshalb gibt es keine z-Werte für das Modell "
    "{model:quoted}. Möglich ist das Modell „mean“; zu prüfen ist auch, wer aufmerksam geantwortet hat.",
    "strengths.single_answers": "{n:stimulus} {n:hat|haben} weniger als zwei brauchbare Antworten und deshalb keinen "
    "Standardfehler.",
    "strengths.flat_answers": "{answers:answer} {answers:wurde|wurden} ausgelassen, weil Antworten, die alle gleich "
    "sind, keine z-Werte haben. Das betrifft {n:participant} ({names}[[ und {more} weitere]]).",
    "strengths.covariances": "Bei so vielen Stimuli ({n}) entfallen die Kovarianzen; Differenzen behandeln die Werte "
    "als unabhängig.",
    "strengths.not_fitted": "{reason} Möglich ist das Modell „mean“.",
    "strengths.two_of_each": "Effekte von Personen und Stimuli brauchen mindestens je zwei.",
    "strengths.shrunk": "Die Werte sind zum Mittel hin geschrumpft, bei wenigen Antworten stärker. Ihre "
    "Standardfehler behandeln die Varianzen als bekannt.",
    "strengths.not_converged": "Diese Werte sind nicht verlässlich. {convergence}",
    "strengths.no_stimulus_variance": "Stimuli unterscheiden sich nicht über den Zufall hinaus: Die Varianz ihrer "
    "Effekte ist null.",
    "strengths.no_participant_variance": "Personen unterscheiden sich nicht in der Lage ihrer Antworten: Die Varianz "
    "ihrer Effekte ist null.",
    "strengths.same_answers": "{n} von {participants} Personen {n:gab|gaben} immer dieselbe Antwort.",
    "strengths.no_thresholds": "Das Modell {model} hat keine Schwellen. Nötig ist strengths(..., model=\"ordinal\").",
    "posterior.not_installed": "Die Posteriorverteilung braucht NumPyro: {command}. Ohne posterior=True wird "
    "dasselbe Modell mit penalisierter Maximum-Likelihood-Schätzung angepasst.",
    "posterior.draws": "Mittelwerte und Intervalle der Posteriorverteilung beruhen auf {draws} Ziehungen aus "
    "{chains} {chains:Kette|Ketten}: R-hat ist höchstens {rhat:.3}, es gibt mindestens {ess} effektive Ziehungen "
    "und {divergences} {divergences:Divergenz|Divergenzen} (standardisierte Werte und Streuungen).",
    "posterior.not_trusted": "Die Ketten stimmen nicht gut genug überein. Abhilfe schafft ein anderer Startwert oder "
    "die Schätzung ohne posterior=True.",
    "posterior.no_draws": "Diese Werte haben keine Ziehungen aus der Posteriorverteilung. Nötig ist posterior=True.",
    "choices.criterion": "Das Kriterium muss „participant“ oder „shared“ sein, nicht {criterion:quoted}.",
    "choices.prior_sd": "prior_sd muss positiv sein, nicht {sd}.",
    "choices.no_option": "Das Modell {model} hat keine Option `{option}`. Sie muss entfallen, oder es wird "
    "{models:or} gewählt.",
    "choices.no_sides": "Die Spalten `left` und `right`, die nennen, was verglichen wurde, fehlen. Beim Lesen der "
    "Datei müssen sie zugeordnet werden (in Python mapping={{'left': ..., 'right': ...}}).",
    "choices.unnamed_side": "{n} {n:Wahl wurde|Wahlen wurden} ausgelassen, weil `left` oder `right` nicht angegeben "
    "ist.",
    "choices.same_sides": "{n} {n:Wahl wurde|Wahlen wurden} ausgelassen, weil beide Seiten denselben Stimulus zeigen.",
    "choices.no_choices": "Keine Wahl hat zwei verschiedene Stimuli in `left` und `right`.",
    "choices.not_connected": "{apart} Diese Stimuli können entfallen, es können weitere Vergleiche erhoben werden, "
    "oder in Python hilft prior_sd=2.",
    "choices.prior": "{apart} Nur die Prior-Verteilung (Standardabweichung {sd}) bestimmt ihre Lage.",
    "choices.wide_prior": "{apart} Nur die breite Prior-Verteilung des Modells (Standardabweichung {sd}) bestimmt "
    "ihre Lage.",
    "choices.groups": "{n} Gruppen von Stimuli wurden nie miteinander verglichen: {groups}[[ und {more} weitere "
    "Gruppen]].",
    "choices.group": "({names}[[ und {more} weitere]])",
    "choices.one_way": "Die Wahlen verbinden nicht alle Stimuli in beiden Richtungen.[[ {alone}]][[ {together}]]",
    "choices.alone": "Immer oder nie gegenüber den verglichenen Stimuli gewählt: {names}[[ und {more} weitere]].",
    "choices.together": "Als Gruppe immer oder nie gegenüber anderen gewählt: {groups}[[ und {more} weitere Gruppen]].",
    "choices.half_ties": "{n:answer} „kein Unterschied“ {n:zählt|zählen} als je eine halbe Wahl beider Seiten. Das "
    "Modell davidson behandelt sie als eigene Antwort.",
    "choices.no_ties_davidson": "Niemand hat „kein Unterschied“ geantwortet, deshalb ist dies das Modell von Bradley "
    "und Terry.",
    "choices.no_ties_thurstone": "Niemand hat „kein Unterschied“ geantwortet, deshalb liegt das Kriterium nahe null "
    "und ist allen gemeinsam.",
    "choices.side": "Die Bevorzugung der linken Seite beträgt {side:.2} Logits ({level:%-}Intervall {lower:.2} bis "
    "{upper:.2}).",
    "choices.not_converged": "Diese Zahlen sind nicht verlässlich: Die Anpassung konvergierte nicht[[ (verbleibende "
    "Steigung {gradient})]].",
    "choices.one_participant": "Es gibt eine Person; Intervalle behandeln die Wahlen deshalb als voneinander "
    "unabhängig.",
    "choices.few_participants": "{n:participant} sind wenige für Standardfehler; diese sind wahrscheinlich zu klein.",
    "choices.not_choices": "Werte des Modells {model} beruhen nicht auf Wahlen. Nötig ist ein Modell für Wahlen.",
    "choices.unknown": "Es gibt keine Werte für {names}[[ und {more} weitere]]. `labels` nennt die vorhandenen.",
    "assumptions.nothing": "Nichts spricht gegen eine allen gemeinsame Reihenfolge der Stimuli[[ (kleinstes p "
    "{p:p})]].",
    "assumptions.not_against": "{test}: nichts spricht dagegen ({size}, p {p:p}).",
    "assumptions.triads": "{value} von {of} Triaden, {expected:.1} erwartet",
    "assumptions.size": "{value:.2}, {expected:.2} erwartet",
    "assumptions.weak": "schwache Transitivität",
    "assumptions.moderate": "mittlere Transitivität",
    "assumptions.strong": "starke Transitivität",
    "assumptions.circular": "zirkuläre Triaden innerhalb von Personen",
    "assumptions.dimension": "zweite Dimension",
    "assumptions.outfit": "Passung der Personen",
    "assumptions.groups": "Gruppen",
    "assumptions.against_weak": "mehr Triaden von Stimuli sind ohne Reihenfolge, als der Zufall bei einer "
    "gemeinsamen Reihenfolge ließe",
    "assumptions.against_moderate": "mehr Triaden verletzen die mittlere Transitivität, als zufällig zu erwarten ist",
    "assumptions.against_strong": "mehr Triaden verletzen die starke Transitivität, als zufällig zu erwarten ist",
    "assumptions.against_circular": "Personen widersprechen sich häufiger, als das Modell vorhersagt",
    "assumptions.against_dimension": "einige Personen ordnen die Stimuli anders als die übrigen",
    "assumptions.against_outfit": "Personen unterscheiden sich stärker in ihrer Passung zur gemeinsamen Reihenfolge, "
    "als das Modell vorhersagt",
    "assumptions.against_groups": "die Gruppen unterscheiden sich in ihren Werten",
    "assumptions.samples": "Für ein p von 0,05 sind mindestens 19 Stichproben nötig, nicht {samples}.",
    "assumptions.participants": "Nötig sind mindestens zwei Personen.",
    "assumptions.no_triads": "Keine drei Stimuli wurden alle miteinander verglichen, deshalb lässt sich die "
    "Transitivität nicht prüfen.",
    "assumptions.no_own_triads": "Niemand hat drei Stimuli alle miteinander verglichen, deshalb gibt es keine "
    "zirkulären Triaden zu zählen.",
    "assumptions.no_choices": "Es gibt keine Wahlen zwischen zwei Stimuli.",
    "assumptions.several_questions": "Mehrere Fragen haben Wahlen. Die Option `question` wählt eine aus.",
    "assumptions.several_groups": "{column} muss jede Person einer von mindestens zwei Gruppen zuordnen; einige sind "
    "in mehreren.",
    "assumptions.no_groups": "{column} muss jede Person einer von mindestens zwei Gruppen zuordnen; einige sind in "
    "keiner, oder es gibt nur eine.",
    "contrasts.no_terms": "Das Modell hat keine Terme, die sich testen ließen.",
    "contrasts.interaction": "Differenz der Differenzen {term}, {contrast}: {estimate:.2}[[ {interval}]], in {unit}.",
    "contrasts.not_used": "Das Modell {formula} wurde nicht verwendet: {reason}. Stattdessen wurde ein Modell "
    "angepasst, das nur zufällige Achsenabschnitte hat; p-Werte sind zu klein, falls Steigungen sich unterscheiden.",
    "contrasts.simplified": "Die Anpassung war singulär, deshalb entfielen Zufallseffekte, die die Daten nicht tragen, "
    "in {steps} {steps:Schritt|Schritten}. Übrig sind {terms}; measures.json von karat measure nennt die Schritte.",
    "contrasts.not_converged": "Diese Zahlen sind nicht verlässlich. {convergence}",
    "contrasts.crossover": "Die Interaktion {term} ist eine Überkreuzung: Keine monotone Transformation der Skala "
    "beseitigt sie.[[ {opposite}]]",
    "contrasts.removable": "Die Interaktion {term} hängt von der Skala ab: Keine Bedingung kehrt ihre Richtung um, "
    "deshalb könnte eine monotone Transformation sie beseitigen.[[ {opposite}]]",
    "contrasts.unsure": "Die Interaktion {term} hängt möglicherweise von der Skala ab: Eine Bedingung kehrt ihre "
    "Richtung um, aber nicht auf beiden Seiten signifikant.[[ {opposite}]]",
    "contrasts.opposite": "In einfachen Mittelwerten hat sie das umgekehrte Vorzeichen.",
    "contrasts.formula_and_conditions": "Eine Formel nennt ihre Bedingungen schon selbst. Die Formel oder die "
    "Bedingungen müssen entfallen.",
    "contrasts.no_condition": "Keine Spalte ist eindeutig eine Bedingung des Designs. --conditions benennt sie; "
    "möglich ist auch karat measure --formula mit einer Formel wie response ~ group + (1 | participant) + (1 | item).",
    "contrasts.empty_conditions": "`conditions` ist leer. Nötig ist mindestens eine Spalte.",
    "contrasts.repeats": "{n:answer} {n:gilt|gelten} einem Stimulus, den die Person schon beantwortet hatte. Das "
    "Modell behandelt {n:sie|sie} wie jede andere dieser Person und dieses Items.",
    "contrasts.labels": "Labels ohne Reihenfolge haben keine Kontraste. Zwei davon lassen sich als ja und nein "
    "behandeln.",
    "contrasts.choices": "Eine Wahl betrifft zwei Stimuli, deshalb hat sie keine eigene Bedingung. "
    "Akzeptabilitätswerte vergleichen die Stimuli, Entscheidungen Paare von ihnen.",
    "contrasts.no_values": "Keine Antwort hat einen Wert in {conditions:and}.",
    "contrasts.participants": "Personen",
    "contrasts.items": "Items",
    "contrasts.same_participants": "{n} von {total} Personen {n:gab|gaben} immer dieselbe Antwort.",
    "contrasts.same_items": "{n} von {total} Items {n:bekam|bekamen} immer dieselbe Antwort.",
    "contrasts.too_many_slopes": "Mit {n} Zufallseffekten würde die Anpassung Minuten dauern, deshalb blieben die "
    "Steigungen der {group} weg. Mit karat measure --formula lassen sie sich trotzdem anpassen.",
    "contrasts.many_slopes": "Es gibt viele Steigungen der {group}, deshalb blieben ihre Korrelationen von Anfang an "
    "weg.",
    "contrasts.not_within": "{condition} variiert bei den meisten {group} nicht, deshalb fehlt eine solche Steigung.",
    "contrasts.one_answer_per_cell": "Für {group} gibt es keine Steigung von {terms:and}, weil die meisten nur eine "
    "Antwort je Zelle haben.",
    "contrasts.no_factors": "Das Modell hat keine Faktoren, deshalb gibt es keine Mittelwerte darzustellen.",
    "contrasts.too_many_factors": "{n} Faktoren passen nicht in eine Abbildung. Eine Formel mit weniger Faktoren ist "
    "nötig.",
    "contrasts.too_many_levels": "{factor} hat mehr als {most} Stufen, zu viele für unterscheidbare Linien.",
    "contrasts.no_means": "Kein Mittelwert des Modells ließ sich schätzen, deshalb gibt es nichts darzustellen. Die "
    "Anmerkungen nennen den Grund.",
    "proportional.splits": "Bei {n} von {splits} Koeffizienten an einer Teilung der Skala schließt das Intervall den "
    "Koeffizienten aus, den alle Teilungen im ordinalen Modell gemeinsam haben.",
    "proportional.not_ordinal": "Proportionale Odds sind eine Annahme ordinaler Modelle. Diese Antworten haben ein "
    "anderes.",
    "proportional.no_fit": "Die Teilung bei {split} ließ sich nicht anpassen.",
    "spread.test": "Gleiche Streuung der Antworten in allen Bedingungen: χ²({df}) = {chi2:.2}, p {p:p}.",
    "spread.not_ordinal": "Gleiche Streuung wird bei Ratings mit Logit-Link geprüft. Diese Antworten haben ein anderes "
    "Modell.",
    "spread.no_fit": "Die Anpassung mit ungleicher Streuung ist nicht konvergiert.",
    "bayes.difference": "{name}: {first} minus {second} ist {estimate:.2} {interval}[[, {response:.2}]][[ {answers} "
    "auf der Skala der Antworten]].",
    "bayes.posterior": "{name}: {positive:%} der Posteriorverteilung liegen über null, {rope:%} innerhalb von "
    "±{bound:.2}.",
    "bayes.null": "{name}: Die Antworten sind ohne Unterschied {factor:.1}-mal so wahrscheinlich wie mit einem.",
    "bayes.alternative": "{name}: Die Antworten sind mit einem Unterschied {factor:.1}-mal so wahrscheinlich wie ohne.",
    "bayes.much_null": "{name}: Die Antworten sind ohne Unterschied über {factor}-mal so wahrscheinlich wie mit einem.",
    "bayes.much_alternative": "{name}: Die Antworten sind mit einem Unterschied über {factor}-mal so wahrscheinlich "
    "wie ohne.",
    "bayes.units": "Die Differenzen sind in {unit} angegeben, auf der Skala der Antworten in {answers} für eine "
    "typische Person und ein typisches Item.",
    "bayes.not_installed": "Bayessche Modelle brauchen NumPyro: {command}. Ohne NumPyro passt `contrasts` dasselbe "
    "Modell mit Maximum-Likelihood-Schätzung an.",
    "bayes.draws": "Die Posteriorverteilungen beruhen auf {draws} Ziehungen aus {chains} {chains:Kette|Ketten}: R-hat "
    "ist höchstens {rhat:.3}, es gibt mindestens {ess} effektive Ziehungen und {divergences} "
    "{divergences:Divergenz|Divergenzen}.",
    "bayes.not_converged": "Die Ziehungen sind nicht konvergiert, diese Posteriorverteilungen sind also nicht "
    "verlässlich: R-hat sollte unter {rhat} liegen, es sollte mindestens {ess} effektive Ziehungen und keine "
    "Divergenzen geben. Abhilfe schaffen mehr Ziehungen oder weniger zufällige Effekte.",
    "bayes.rough_factor": "Für {names:and} liegen kaum Ziehungen jenseits der Null, deshalb ist vom Bayes-Faktor nur "
    "die Größenordnung bekannt.",
    "bayes.fits": "Prüfung der Vorhersagen: In allen {statistics} Kennzahlen gleichen Antworten aus dem Modell den "
    "gegebenen.",
    "bayes.misfit": "Prüfung der Vorhersagen: {n} von {statistics} Kennzahlen liegen außerhalb der Intervalle von "
    "Antworten aus dem Modell: {names:and}.",
    "planned.difference": "{name}: {first} minus {second} ist {estimate:.2} {interval}[[, p {p:p}]].",
    "planned.no_interval": "{name}: {first} minus {second} ist {estimate:.2}, ohne Intervall.",
    "planned.unit": "Die Differenzen sind in {unit} angegeben.",
    "planned.equivalence": "{name}: {verdict} (Äquivalenz p {p:p}).",
    "planned.equivalent": "der Unterschied ist kleiner als die genannte Grenze",
    "planned.different": "der Unterschied ist größer als die genannte Grenze",
    "planned.undecided": "ob der Unterschied kleiner als die genannte Grenze ist, bleibt offen",
    "planned.failed": "Der geplante Vergleich {name:quoted} ließ sich nicht berechnen. {reason}",
    "planned.no_term": "Das Modell hat keinen Term aus {factors:and}.",
    "planned.no_answers": "Es gibt keine Antworten bei {first} oder {second}.",
    "planned.no_factor": "Das Modell hat keinen Faktor {names:and}.",
    "planned.choice": "Eine Wahl vergleicht zwei Stufen, deshalb hat sie keine Interaktion und keine Gewichte über "
    "Zellen. Besser ist ein Unterschied zweier Stufen mit `within` auf jeder Stufe des anderen Faktors.",
    "planned.no_column": "Die Wahlen haben keine Spalte {column:quoted}.",
    "planned.no_choice": "Keine Wahl vergleicht {levels:and} von {factor}.",
    "planned.ties": "{name}: {n:answer} „kein Unterschied“ {n:wurde|wurden} ausgelassen.",
    "planned.no_sides": "Die Wahlen geben nicht an, was links und rechts gezeigt wurde.",
    "planned.nothing": "Die Studiendatei plant keinen Vergleich.",
    "order.answers": "Antworten",
    "order.times": "Antwortzeiten",
    "order.change": "Antworten[[ in der Bedingung {condition:quoted}]] ändern sich um {change:.2}[[ {interval}]] von "
    "Trial {first} bis Trial {last}[[, p {p:p}]].",
    "order.unit": "Änderungen der Antworten sind in {unit} angegeben.",
    "order.time_change": "Antwortzeiten[[ in der Bedingung {condition:quoted}]] ändern sich um[[ {change:.1} %]]"
    "[[ {interval}]] von Trial {first} bis Trial {last}[[, p {p:p}]].",
    "order.percent": "[{lower:.1} %; {upper:.1} %]",
    "order.differ": "Die Bedingungen unterscheiden sich in dieser Änderung[[ (p {p:p})]].",
    "order.adjusted": "Diese p-Werte sind für die Zahl der Bedingungen adjustiert (Holm).",
    "order.alike": "Nichts deutet darauf hin, dass sich die Bedingungen in dieser Änderung unterscheiden[[ (p "
    "{p:p})]].",
    "order.no_order": "Die Antworten haben keine Reihenfolge, deshalb wurden nur Antwortzeiten ausgewertet.",
    "order.untimed": "Antwortzeiten wurden nicht ausgewertet, weil es in {conditions} keine gibt.",
    "order.nothing": "Die Antworten haben keine Reihenfolge und es gibt keine Antwortzeiten, deshalb gibt es keine "
    "Änderung zu messen.",
    "order.not_converged": "Die Steigungen der {measure} sind nicht verlässlich. {convergence}",
    "order.simplified": "Das Modell der {measure} war singulär und wurde deshalb vereinfacht. {steps}",
    "order.left_out": "Im Modell der {measure}: {note}",
    "order.too_many_conditions": "{n:condition} sind zu viele, um sie in einer Abbildung zu unterscheiden. "
    "--conditions wählt weniger Spalten aus.",
    "scores.no_table": "Die Funktion muss eine Tabelle mit den Spalten {key} und {value} oder eine Zuordnung liefern.",
    "measures.too_many": "{n} Maße passen nicht auf eine Seite. Darstellbar sind höchstens {most}.",
    "measures.not_measured": "{name} wurde nicht berechnet. {reason}",
    "measures.unknown": "Es gibt kein Ergebnis {name:quoted}. Es gibt {known}.",
    "run.differential": "Modelle je Frage werden bis zu {most} Fragen angepasst, und hier sind es {n}. Für eine "
    "davon, etwa {question:quoted}, gibt es karat measure --question.",
    "run.no_question": "Es gibt keine Frage {question:quoted}. Es gibt {questions}.",
    "run.no_models": "{model:quoted} ist kein Modell für Antworten der Art {kinds:and}, die keines haben. Es muss "
    "entfallen.",
    "run.no_posterior": "Eine Posteriorverteilung gibt es für Wahlen; Antworten der Art {kinds:and} haben hier "
    "keine. Sie muss entfallen.",
    "run.order_size": "Das Modell würde bei mehr als {most} Antworten zu lange dauern. In Python passt "
    "karat.measure.order_effects es an.",
    "run.contrasts_size": "Ein Modell mit Steigungen würde bei mehr als {most} Antworten zu lange dauern. Mit karat "
    "measure --formula lässt sich eines ohne sie anpassen.",
    "run.samples_size": "Die Stichproben würden bei mehr als {most} Antworten zu lange dauern. In Python berechnet "
    "karat.measure.noise_ceiling sie.",
    "run.no_labels": "Ein Konsens wird für Labels berechnet, nicht für Antworten der Art {kinds:and}.[[ Sind die "
    "Antworten Labels, lesen Sie die Datei mit --scale {scale}.]]",
    "run.many_groups": "{by} hat {n} Werte. Stabilität vergleicht je zwei davon und mehr als {most} nur auf "
    "Verlangen: karat measure --by {by}.",
    "run.one_group": "Es gibt eine Sitzung und eine Quelle von Personen. karat measure --by vergleicht andere Gruppen.",
    # ==================== measure: agreement, dimensions, decisions, stability, consensus ====================
    "bootstrap.settings": "samples muss 0 oder größer sein und level zwischen 0 und 1 liegen. Sie sind {samples} und "
    "{level}.",
    "agreement.alpha": "[[{question}: ]]{coefficient} beträgt {estimate:.2r}[[ (Intervall {lower:.2r} bis {upper:.2r}, "
    "Niveau {level:%})]] ({participants:participant}, {stimuli:stimulus}).",
    "agreement.split_half": "[[{question}: ]]Die Split-Half-Reliabilität der Mittelwerte der Stimuli beträgt "
    "{estimate:.2r}[[ (Intervall {lower:.2r} bis {upper:.2r}, Niveau {level:%})]].",
    "agreement.undefined": "[[{question}: ]]{coefficient} ist für diese Antworten nicht definiert.",
    "agreement.unknown_coefficient": "Den Koeffizienten {coefficient} gibt es[[ für die Frage {question:quoted}]] "
    "nicht. Die Koeffizienten sind {known}.",
    "agreement.no_shared_stimulus": "[[{question}: ]]Kein Stimulus wurde von zwei Personen beurteilt. Mit "
    "karat measure --conditions '' gelten Items als Stimuli, wenn Spalten trennen, was ein Stimulus sein soll.",
    "agreement.k": "Intraklassenkorrelationen von Mittelwerten gelten für k = {k:.1} Antworten je Stimulus.",
    "agreement.unequal": "Manche Stimuli haben bis zu {most} Antworten, der übliche {usual:.0}. Diese Zahlen gewichten "
    "Antworten gleich, sodass solche Stimuli überwiegen, anders als bei Split-Half-Reliabilität und ICCs nach REML.",
    "agreement.single_answers": "{n:stimulus} mit nur einer Antwort {n:hat|haben} kein Paar von Personen.",
    "noise_ceiling.participants": "Besser als im Folgenden kann kein Modell die Antworten vorhersagen "
    "({n:participant}).",
    "noise_ceiling.means": "[[{question}: ]]Vollkommene Vorhersagen würden zu {estimate:.2r}[[ (Intervall {lower:.2r} "
    "bis {upper:.2r}, Niveau {level:%})]] mit den Mittelwerten der Stimuli korrelieren[[ und zu {low:.2r} bis "
    "{high:.2r} mit den Antworten einer einzelnen Person]][[ und zu {one:.2r} mit den Antworten einer einzelnen "
    "Person]].",
    "noise_ceiling.majority": "[[{question}: ]]Wer die Mehrheit der übrigen Personen vorhersagt, träfe {estimate:%} "
    "der Antworten[[ (Intervall {lower:%} bis {upper:%}, Niveau {level:%})]].",
    "noise_ceiling.undefined": "[[{question}: ]]Wie gut sich die Mittelwerte der Stimuli vorhersagen lassen, ist für "
    "diese Antworten nicht definiert.",
    "noise_ceiling.no_shared_stimulus": "[[{question}: ]]Kein Stimulus wurde von zwei Personen beurteilt.",
    "decision_study.stimuli": "[[{question}: ]]Um Stimuli mit einer Reliabilität von {wanted:.2r} zu ordnen, braucht "
    "jeder Stimulus {needed} {needed:Bewertung|Bewertungen} (jetzt {now:.0}[[, Reliabilität {reliability:.2r}]]).",
    "decision_study.participants": "[[{question}: ]]Um Personen mit einer Reliabilität von {wanted:.2r} zu ordnen, "
    "braucht jede Person {needed:item} (jetzt {now:.0}[[, Reliabilität {reliability:.2r}]]).",
    "decision_study.equal_stimuli": "[[{question}: ]]Keine Zahl von Personen kann die Stimuli zuverlässig ordnen, weil "
    "sich die Stimuli nicht unterscheiden.",
    "decision_study.equal_participants": "[[{question}: ]]Keine Zahl von Items kann die Personen zuverlässig ordnen, "
    "weil sich die Personen nicht unterscheiden.",
    "decision_study.unknown_question": "Die Frage {question:quoted} gibt es nicht.",
    "decision_study.wanted": "Die gewünschte Reliabilität muss zwischen 0 und 1 liegen. Sie ist {wanted}.",
    "decision_study.no_variances": "Kategorien und Wahlen haben keine Varianzen und bleiben deshalb weg.",
    "decision_study.no_shared_stimulus": "[[{question}: ]]Kein Stimulus wurde von mehreren Personen beurteilt. Deshalb "
    "lässt sich nicht berechnen, wie viele Personen und Items nötig sind.",
    "decision_study.inseparable": "[[{question}: ]]Die Personen haben verschiedene Stimuli beurteilt, daher lassen "
    "sich ihre Unterschiede nicht vom Rest trennen. Die geschätzte Varianz des Rests ist negativ.",
    "decision_study.no_numbers": "Die Antworten sind keine Zahlen. Wie viele Personen und Items nötig sind, lässt sich "
    "für Bewertungen, Ja oder Nein, Schieberegler und Größenschätzungen berechnen.",
    "stability.scores": "[[{question}: ]]Die Werte der Stimuli in {first} und {second} ({kind:word}) korrelieren zu "
    "{estimate:.2r}[[ (Intervall {lower:.2r} bis {upper:.2r}, Niveau {level:%})]] ({n:stimulus}).",
    "stability.decisions": "[[{question}: ]]{first} und {second} ({kind:word}) führen bei {estimate:%} von {n} "
    "{n:Paar|Paaren} zur gleichen Entscheidung[[ (Intervall {lower:%} bis {upper:%}, Niveau {level:%})]].",
    "stability.undefined": "[[{question}: ]]Wie die Werte der Stimuli in {first} und {second} ({kind:word}) "
    "korrelieren, ist nicht definiert.",
    "stability.no_shared_stimulus": "Kein Stimulus wurde in mehr als einer Gruppe ({by}) beurteilt, daher gibt es "
    "keine Werte zu vergleichen.",
    "stability.unknown_scores": "scores muss mean, zscore oder eine Funktion sein, nicht {scores:quoted}.",
    "stability.labels": "Kategorien haben keine Werte, die korrelieren könnten. scores oder decisions müssen "
    "Funktionen sein.",
    "stability.no_scores": "Die Funktion gibt für keine Gruppe Werte.",
    "stability.no_decisions": "Für {group} gibt es keine Entscheidungen. Es gibt Entscheidungen für {known}.",
    "stability.no_shared_pair": "Kein Paar hat sowohl in {first} als auch in {second} eine Entscheidung.",
    "stability.no_group": "{n:answer} ohne {by} {n:blieb|blieben} weg.",
    "stability.fewer_samples": "Bei {pairs} Gruppenpaaren stammen die Intervalle aus {samples} Bootstrap-Stichproben "
    "statt aus 1.000.",
    "stability.empty_column": "Stabilität vergleicht Gruppen, aber die Spalte {by} ist leer. Mit by=... lässt sich "
    "eine andere Spalte der Urteile oder der Personen nennen.",
    "stability.one_group": "Stabilität vergleicht Gruppen, aber die Spalte {by} hat nur einen Wert ({group}). Mit "
    "by=... lässt sich eine andere Spalte der Urteile oder der Personen nennen.",
    "consensus.labels": "{method:word}: {items:item} aus {answers:answer}. {sure} {sure:Kategorie hat|Kategorien "
    "haben} eine Wahrscheinlichkeit von {limit:.2r} oder mehr, bei {ties} {ties:Item|Items} herrscht Gleichstand.",
    "consensus.right": "Im Median hat eine Person voraussichtlich mit {right:%} ihrer Antworten recht.",
    "consensus.converged": "{method:word}: nach {n} {n:Runde|Runden} konvergiert.",
    "consensus.not_converged": "{method:word}: in {n} {n:Runde|Runden} nicht konvergiert. In "
    "Python sind mit iterations=... mehr erlaubt.",
    "consensus.numbers": "Zahlen haben keine Kategorien und bleiben deshalb weg.",
    "consensus.no_categories": "Ein Konsens braucht Antworten in Kategorien (Kategorien, Ja oder Nein, Bewertungen, "
    "Wahlen), aber die Skala ist vom Typ {kind}. Für Zahlen eignen sich Mittelwerte oder Stärken.",
    "consensus.unknown_method": "method muss {known:or} sein, nicht {method:quoted}.",
    "consensus.weights_without_method": "Gewichte brauchen method=\"weighted\". Die Methode ist {method}.",
    "consensus.errors": "errors muss \"free\" oder \"ordered\" sein und braucht method=\"dawid-skene\".",
    "consensus.search": "iterations muss 1 oder größer sein, und tolerance darf nicht negativ sein.",
    "consensus.unordered": "Geordnete Fehler brauchen eine geordnete Skala mit mindestens drei Stufen. Diese Skala ist "
    "vom Typ {kind}.",
    "consensus.no_weight": "Für {participant}[[ und {more} weitere]] gibt es kein Gewicht.",
    "consensus.weights": "Gewichte müssen Zahlen sein, keines negativ und nicht alle 0.",
    "decisions.counts": "{expert} von {pairs} {pairs:Paar|Paaren} {expert:entspricht|entsprechen} der Vorliebe von "
    "Fachleuten, {reverse} {reverse:ist|sind} umgekehrt, und {none} {none:zeigt|zeigen} keinen Unterschied (Maß: "
    "{model}).",
    "decisions.equivalent": "Von den Paaren ohne Unterschied {equal:ist|sind} {equal} praktisch gleichwertig (bis "
    "{rope:.2} {unit}).",
    "decisions.left_out": "{n:pair} ohne genügend Antworten {n:blieb|blieben} weg: {pairs}[[ und {more} weitere]].",
    "decisions.ties": "{n:answer} „kein Unterschied“ {n:geht|gehen} nicht in die Tests ein. Die Spalte ties nennt "
    "ihren Anteil.",
    "decisions.constant_answers": "{n:participant} mit immer gleichen Antworten {n:blieb|blieben} weg.",
    "decisions.no_option": "Kontraste nach {model} haben kein {option}. Mit model=... lässt sich ein anderes Modell "
    "wählen; sonst fällt {option} weg.",
    "decisions.alpha": "alpha muss zwischen 0 und 0,5 liegen. Es ist {alpha}.",
    "decisions.adjust": "adjust muss \"holm\", \"bh\" oder \"none\" sein, nicht {adjust:quoted}.",
    "decisions.rope": "rope ist die halbe Breite eines Bereichs und muss positiv sein. Es ist {rope}.",
    "decisions.labels": "Bei Kategorien gibt es kein Besser und Schlechter.",
    "decisions.wrong_model": "{model} ist nicht für Antworten vom Typ {kind}. Geeignet sind {usual} oder ein Modell "
    "der Stärken.",
    "decisions.too_few_answers": "Kein Paar hat genügend Antworten zu beiden Stimuli.",
    "decisions.unknown_stimulus": "Den Stimulus {stimulus} gibt es nicht.[[ Ist {close} gemeint?]]",
    "decisions.no_rope": "Mittelwerte von Antworten vom Typ {kind} haben keinen üblichen Bereich der Gleichwertigkeit. "
    "Er wird mit rope=... gesetzt.",
    "decisions.no_sides": "Wahlen brauchen die Spalten left und right, die die beiden Stimuli nennen.",
    "decisions.no_pairs": "Es gibt keine Paare.",
    "decisions.incomplete_pairs": "{n} {n:Paar|Paaren} {n:fehlt|fehlen} Name, besserer oder schlechterer Stimulus.",
    "decisions.repeated_pairs": "Jedes Paar darf nur einmal vorkommen, aber mehrfach kommen vor: {pairs}[[ und {more} "
    "weitere]].",
    "decisions.same_stimulus": "Der bessere und der schlechtere Stimulus eines Paars müssen verschieden sein, aber "
    "gleich sind sie in: {pairs}[[ und {more} weiteren]].",
    "decisions.no_file": "Die Datei {file} gibt es nicht.",
    "decisions.unreadable_file": "{file} ist nicht lesbar ({why}). Nötig ist eine CSV-Datei mit den Spalten pair, "
    "better und worse.",
    "decisions.pairs_of_list": "Jedes Paar einer Liste muss (pair, better, worse) sein.",
    "decisions.missing_column": "Die Tabelle der Paare hat keine Spalte {column}. Sie braucht die Spalten pair, better "
    "(den von Fachleuten bevorzugten Stimulus) und worse.",
    "decisions.choices_without_pairs": "karat measure --pairs (in Python pairs=...) nennt die Paare. Sonst brauchen "
    "Wahlen die Spalten left, right und expected (die Seite des besseren Stimulus).",
    "decisions.ratings_without_pairs": "karat measure --pairs (in Python pairs=...) nennt die Paare. Sonst brauchen "
    "Bewertungen die Spalte pair sowie status oder expected, aus denen der bessere Stimulus hervorgeht.",
    "decisions.unclear_pairs": "karat measure --pairs (in Python pairs=...) nennt die Paare. Aus status und expected "
    "geht nicht hervor, welcher Stimulus der bessere ist, oder es sind nicht zwei Stimuli, in: {pairs}[[ und {more} "
    "weiteren]].",
    "unit.share": "im Anteil der Antworten",
    "unit.scale_points": "Punkte",
    "unit.scale": "Einheiten der Skala",
    "unit.deviations": "Standardabweichungen der Antworten einer Person",
    "compare_decisions.different": "{measures} Maße entscheiden bei {different} von {pairs} {pairs:Paar|Paaren} "
    "verschieden.",
    "compare_decisions.agree": "{first} und {second} stimmen bei {same:%} der Paare überein[[ (Kappa {kappa:.2r})]].",
    "compare_decisions.agree_least": "{first} und {second} stimmen am seltensten überein, bei {same:%} der Paare[[ "
    "(Kappa {kappa:.2r})]].",
    "compare_decisions.agree_most": "{first} und {second} stimmen am häufigsten überein, bei {same:%} der Paare[[ "
    "(Kappa {kappa:.2r})]].",
    "compare_decisions.undecided": "{n:pair} {n:wurde|wurden} nicht von jedem Maß entschieden.",
    "compare_decisions.one_measure": "Um Entscheidungen zu vergleichen, sind mindestens zwei Maße nötig.",
    "compare_decisions.unknown_reference": "Das Maß {measure} gibt es nicht.[[ Ist {close} gemeint?]]",
    "compare_decisions.columns": "Die Tabelle von {measure} muss die Spalten pair und decision haben.",
    "compare_decisions.repeated_pair": "{measure} entscheidet mehr als einmal über das Paar {pair}.",
    "compare_decisions.unknown_decision": "{decision:quoted} ist keine Entscheidung von {measure}. Entscheidungen sind "
    "{words:or}, oder {symbols}.",
    "compare_decisions.reserved_name": "Ein Maß kann nicht pair heißen. Es braucht einen anderen Namen.",
    "compare_decisions.no_shared_pair": "{first} und {second} haben kein gemeinsames Paar.",
    "dimensions.unknown_number": "Die Zahl der Faktoren ließ sich nicht bestimmen. Sie wird mit --dimensions gesetzt.",
    "dimensions.no_factors": "Die Parallelanalyse findet keine Faktoren. Eine Zahl wird mit --dimensions gesetzt.",
    "overall_regression.explained": "Die Dimensionen erklären {r2:%} der Varianz von {overall} über {texts} "
    "{texts:Text|Texte} ({left_out:%} für Texte außerhalb der Anpassung).",
    "overall_regression.largest": "{dimension} hat das größte Gewicht (standardisiert {weight:.2}).",
    "overall_regression.inflated": "Die Dimensionen überschneiden sich: Die Varianz des Gewichts von {dimensions:and} "
    "ist mehr als {times}-mal so groß wie ohne die anderen.",
    "overall_regression.too_few_texts": "{texts} {texts:Text ist|Texte sind} zu wenig für {dimensions} "
    "{dimensions:Dimension|Dimensionen}.",
    "overall_regression.dependent": "Die Dimensionen sind nicht voneinander unabhängig. Eine davon muss entfallen.",
    "feature_correlations.clear": "{clear} von {n} {n:Korrelation|Korrelationen} {clear:ist|sind} von null verschieden "
    "(adjustiertes p < {alpha:.2r}).",
    "feature_correlations.strongest": "Am stärksten ist {dimension} mit {feature} (r = {r:.2r}).",
    "feature_correlations.too_few_texts": "{dimension} und {feature} haben weniger als vier gemeinsame Texte.",
    "dimension_links.unknown_column": "Die Spalte {column} gibt es nicht. Die Spalten sind {known}.",
    "dimension_links.repeated_column": "Die Spalte {column} ist zweimal genannt. Jede Spalte darf nur einmal "
    "vorkommen.",
    "dimension_links.no_numbers": "Die Spalte {column} enthält keine Zahlen.",
    "dimension_links.missing_values": "{n} {n:Text|Texte} mit einem fehlenden Wert {n:blieb|blieben} weg.",
    "dimension_scores.scores": "{texts} {texts:Text hat|Texte haben} Werte auf {dimensions:and}, aus {cases} "
    "{cases:Fall|Fällen}.",
    "dimension_scores.no_texts": "Für Werte von Texten müssen die Texte bekannt sein. Die Faktoren müssen aus einer "
    "ratings_matrix stammen.",
    "factors.explained": "{n:factor} {n:erklärt|erklären} {share:%} der Varianz von {pairs} {pairs:Paar|Paaren}.",
    "factors.fit": "Anpassung: χ²({dof}) = {chi2:.2}, p {p:p}, RMSEA {rmsea:.3}.",
    "factors.no_test": "Für einen Test der Anpassung bleiben keine Freiheitsgrade.",
    "factors.no_degrees_of_freedom": "Es bleiben keine Freiheitsgrade; beliebige Korrelationen würden passen.",
    "factors.few_cases": "{cases} {cases:Fall ist|Fälle sind} wenig für {pairs:pair}. Ladungen werden zwischen "
    "Stichproben schwanken.",
    "factors.extraction_not_converged": "Die Extraktion ist nicht konvergiert. Ihr Gradient beträgt noch {gradient}.",
    "factors.heywood": "Heywood-Fall: {pairs:and} {n:hat|haben} keine eigene Varianz (Uniqueness {uniqueness:.3r}). "
    "Die Lösung liegt am Rand des Möglichen. Weniger Faktoren können helfen.",
    "factors.better_start": "Ein anderer Startwert passt besser (Zielfunktion {lowest:.5} statt {objective:.5}); die "
    "Lösung ist also nicht gut bestimmt. Mit start=\"best\" wird die bessere genommen.",
    "factors.rotation_not_converged": "Die Rotation ist nicht konvergiert.",
    "factors.varimax_stopped": "Varimax endet dort, wo R endet, vor dem Maximum. Am Maximum weichen Ladungen um bis zu "
    "{moved:.3} ab.",
    "factors.few_pairs": "{factor} wird nur von {pairs:and} getragen. Ein Faktor mit weniger als drei Paaren ist "
    "schlecht bestimmt.",
    "factors.no_pair": "{factor} wird von keinem Paar getragen. Ein Faktor mit weniger als drei Paaren ist schlecht "
    "bestimmt.",
    "factors.not_distinct": "{first} und {second} korrelieren zu {r:.2r} und sind kaum zu unterscheiden.",
    "factors.discriminant_validity": "Diskriminanzvalidität: {first} und {second} korrelieren zu {r:.2r}. Sie teilen "
    "mehr Varianz ({shared:.2r}), als aus den Paaren von {weak:and} extrahiert wird.",
    "factors.names": "Es gibt {n:factor}. Nötig sind ebenso viele verschiedene Namen.",
    "factors.no_ratings": "Werte brauchen die Bewertungen, gegeben sind aber nur ihre Korrelationen.",
    "factors.score_method": "Werte werden mit \"regression\" oder \"bartlett\" berechnet, nicht mit {method:quoted}.",
    "factors.method": "method muss \"ml\" oder \"minres\" sein, nicht {method:quoted}.",
    "factors.rotation": "rotation muss \"promax\", \"oblimin\", \"varimax\" oder None sein, nicht {rotation:quoted}.",
    "factors.start": "start muss \"usual\" oder \"best\" sein, nicht {start:quoted}.",
    "factors.kaiser": "kaiser muss für {rotation} {known:or} sein, nicht {kaiser:quoted}.",
    "factors.number": "{pairs} Paare erlauben höchstens {most:factor} und mindestens 1, nicht {n}. Nötig sind weniger "
    "Faktoren oder mehr Paare.",
    "factors.too_few_pairs": "{pairs:pair} {pairs:ist|sind} zu wenig für einen Faktor. Nötig sind mehr Paare.",
    "factor_intervals.width": "Intervalle von Ladungen (Niveau {level:%}) sind im Mittel {width:.2} breit ({draws} "
    "{draws:Ziehung|Ziehungen}).",
    "factor_intervals.no_ratings": "Intervalle brauchen die Bewertungen, gegeben sind aber nur ihre Korrelationen.",
    "factor_intervals.settings": "draws muss mindestens 2 sein und level zwischen 0 und 1 liegen.",
    "factor_intervals.no_participants": "Die Zeilen nennen keine Personen und wurden deshalb gezogen, als wären sie "
    "unabhängig.",
    "factor_intervals.left_out": "{n} {n:Ziehung blieb|Ziehungen blieben} weg, weil die Suche keine Lösung fand.",
    "factor_intervals.no_solutions": "Kaum eine Ziehung hat eine Lösung. Nötig sind weniger Faktoren oder mehr "
    "Personen.",
    "factor_intervals.unstable": "{factors:and} {n:ist|sind} in den Ziehungen oft ein anderer Faktor (mittlere "
    "Kongruenz unter {congruence:.2r}).",
    "number_of_factors.agreed": "Alle Regeln ergeben {n:factor}: {rules}.",
    "number_of_factors.range": "Die Regeln ergeben {low} bis {high} Faktoren: {rules}.",
    "number_of_factors.rule": "{n} nach {rule}",
    "number_of_factors.unknown_rule": "Die Regel {rule} gibt es nicht. Die Regeln sind {known}.",
    "number_of_factors.settings": "draws muss mindestens 1 sein und quantile zwischen 0 und 1 liegen.",
    "number_of_factors.too_few_pairs": "Die Zahl der Faktoren braucht mindestens drei Paare.",
    "adequacy.kmo": "KMO beträgt {kmo:.2r} ({word:word}).",
    "adequacy.undefined": "KMO ist nicht definiert.",
    "adequacy.bartlett": "Bartlett-Test mit {cases} {cases:Fall|Fällen}: χ²({dof}) = {chi2:.1}, p {p:p}.",
    "adequacy.low": "Unter {limit:.1r} liegt KMO für {pairs:and}.",
    "adequacy.too_few_cases": "{cases} {cases:Fall ist|Fälle sind} zu wenig für {pairs:pair}.",
    "suitability.both": "{kept} von {pairs} {pairs:Paar|Paaren} {kept:bleibt|bleiben}. Ein Paar fällt weg, wenn sein "
    "Mittelwert unter {mean} und seine Standardabweichung über {sd} liegt.",
    "suitability.either": "{kept} von {pairs} {pairs:Paar|Paaren} {kept:bleibt|bleiben}. Ein Paar fällt weg, wenn sein "
    "Mittelwert unter {mean} oder seine Standardabweichung über {sd} liegt.",
    "suitability.other_rule": "Mit rule=\"{rule}\" {kept:bliebe|blieben} {kept:pair}.",
    "suitability.low": "Mittelwert {mean:.2} liegt unter {mean_limit}",
    "suitability.wide": "Standardabweichung {sd:.2} liegt über {sd_limit}",
    "suitability.low_and_wide": "Mittelwert {mean:.2} liegt unter {mean_limit} und Standardabweichung {sd:.2} über "
    "{sd_limit}",
    "suitability.suitable": "geeignet",
    "suitability.rule": "rule muss \"both\" oder \"either\" sein, nicht {rule:quoted}.",
    "suitability.no_answers": "Es gibt keine Antworten auf Trials mit der Funktion {functions:or}.",
    "suitability.one_rating": "{pairs:and} {n:wurde|wurden} nur einmal bewertet und {n:hat|haben} deshalb keine "
    "Standardabweichung.",
    "profiles.groups": "{groups} {groups:Gruppe|Gruppen} (nach {by}) {groups:hat ein Profil|haben Profile} auf {pairs} "
    "{pairs:Paar|Paaren}.",
    "profiles.widest": "Am weitesten auseinander liegen sie bei {pair} ({points:.1} Punkte).",
    "profiles.no_group": "{n} {n:Bewertung|Bewertungen} ohne {by} {n:blieb|blieben} weg.",
    "profiles.unknown_column": "Die Spalte {column} gibt es nicht. Die Spalten sind {known}.",
    "profiles.empty_column": "Die Spalte {column} ist leer.",
    "profiles.unknown_group": "Die Gruppe {group} gibt es in der Spalte {column} nicht.",
    "profiles.lines": "Eine Abbildung kann 1 bis {most} Gruppen zeigen, nicht {n}. Die Gruppen müssen genannt werden.",
    "reduction.removed": "{n:pair} {n:wurde|wurden} entfernt, {left} {left:bleibt|bleiben}.",
    "reduction.low_communality": "Kommunalität {communality:.2r} liegt unter {limit:.2r}",
    "reduction.close_loadings": "die zwei größten Ladungen unterscheiden sich um {gap:.2r}, unter {limit:.2r}",
    "reduction.stays": "{pair} bleibt, weil {factors:factor} {pairs:pair} {factors:braucht|brauchen}, obwohl es einen "
    "Grund zum Entfernen gibt: {reason}.",
    "reduction.settings": "communality und gap müssen zwischen 0 und 1 liegen.",
    "reduction.unknown_pair": "keep nennt {pair}, das kein Paar ist. Die Paare sind {known}.",
    "reduction.no_names": "Um Paare zu entfernen, ist eine RatingsMatrix oder ein polars-Frame von Bewertungen mit "
    "benannten Spalten nötig.",
    "short_form.pairs": "Die Kurzform hat {n:pair}: {pairs}.",
    "short_form.pair": "{pair} für {dimension}",
    "short_form.no_pair": "{dimension} trägt kein Paar und fehlt deshalb in der Kurzform.",
    "short_form.study": "Die Studie muss einen einzigen Block haben, ein Differential mit einer Tabelle von Fragen.",
    "short_form.unknown_question": "Die Studie hat keine Frage {question}.",
    "short_form.folder": "{folder} ist nicht leer, und nichts wird überschrieben. Nötig ist ein anderer Ordner.",
    "short_form.not_rewritten": "Die Studiendatei ließ sich nicht umschreiben. Ihre Fragen müssen von Hand gesetzt "
    "werden.",
    "select_controls.clear": "{clear} von {n} {n:Stimulus|Stimuli} {clear:ist|sind} eindeutig. {chosen} "
    "{chosen:ist|sind} ausgewählt, {low} am unteren und {high} am oberen Ende der Skala.",
    "select_controls.not_clear": "Nicht eindeutig: {reasons}.",
    "select_controls.too_few_answers": "mit zu wenigen Antworten: {n}, mindestens {fewest} sind nötig",
    "select_controls.marked": "markiert: Personen können darüber verschiedener Meinung sein",
    "select_controls.other_side": "auf der anderen Seite der Skala als Status oder erwartete Antwort: der Mittelwert "
    "ist {mean:.2}",
    "select_controls.not_near_end": "nicht nah an einem Ende: das Intervall {lower:.2} bis {upper:.2} überschreitet "
    "{limit}",
    "select_controls.variation": "mit zu viel Streuung: die Standardabweichung ist {sd:.2}, höchstens {max_sd} ist "
    "erlaubt",
    "select_controls.others_clearer": "eindeutig, aber andere sind eindeutiger",
    "select_controls.too_few_low": "Am unteren Ende {number:ist|sind} nur {number} der gewünschten {n} eindeutig.",
    "select_controls.too_few_high": "Am oberen Ende {number:ist|sind} nur {number} der gewünschten {n} eindeutig.",
    "select_controls.n": "n ist die Zahl der gewünschten Stimuli je Ende und muss mindestens 1 sein. Es ist {n}.",
    "select_controls.max_sd": "max_sd muss größer als 0 sein. Es ist {max_sd}.",
    "select_controls.clearly": "clearly ist ein Anteil der Skala und muss größer als 0 und höchstens 0,5 sein. Es ist "
    "{clearly}.",
    "select_controls.questions": "Eine Normierungsstudie hat eine Frage, diese Urteile haben mehrere: {questions}.",
    "select_controls.no_ends": "Antworten vom Typ {kind} haben keine zwei Enden, an denen ein Stimulus eindeutig sein "
    "könnte. Zum Normieren eignen sich eine Bewertungsskala, Ja und Nein oder ein Schieberegler mit beiden Enden.",
    "verified_items.unreadable_rows": "{file} hat Zeilen, die nicht lesbar sind. Sie müssen zuerst berichtigt werden; "
    "karat check nennt sie.",
    "verified_items.no_item_column": "{file} ist keine Itemtabelle: Die Spalte item fehlt.",
    "verified_items.no_items": "{file} hat keines der Items der Normierungsstudie ({items}, ...).",
    "verified_items.two_targets": "Möglich ist out=... oder in_place=True, nicht beides.",
    "verified_items.spreadsheet": "{file} ist eine Arbeitsmappe und wird nicht selbst geändert. Mit out=... wird eine "
    "CSV-Datei genannt.",
    "verified_items.no_target": "Mit out=... entsteht eine neue Itemtabelle, mit in_place=True wird {file} selbst "
    "geändert.",
    "verified_items.target_exists": "{target} gibt es schon. Nötig ist eine andere Datei, oder in_place=True für "
    "{file} selbst.",
    "verified_items.not_csv": "Itemtabellen werden als CSV geschrieben. Die Datei muss {name} heißen.",
    "verified_items.versions": "{file}: {item} wurde in mehreren Fassungen normiert, die die Tabelle nicht "
    "unterscheidet. Sie braucht die Spalte {columns:or}.",
    "excluded.nobody": "niemand. Mit --without {file} bleiben Personen weg, die ein Screening ausgeschlossen hat.",
    "excluded.screened": "hier niemand. {file} enthält die {kept} von {participants:participant}, die nach dem "
    "Screening blieben.",
    "excluded.some": "{n} von {participants:participant}, nach {file}.[[ Darin fehlen {unknown:participant}, zum "
    "Beispiel {example}; sie bleiben.]]",
    "excluded.nobody_in_file": "niemand. {file} schließt niemanden aus.",
    "excluded.nobody_left": "niemand mehr. Die Personen, die {file} ausschließt, sind in diesen Urteilen schon nicht "
    "mehr enthalten.",
    "excluded.rules": "{n} von {participants:participant}, nach den Regeln dieses Screenings.",
    "excluded.rules_nobody": "niemand.",
    "excluded.other_study": "{file} schließt nur Personen aus, die hier fehlen, zum Beispiel {participant}. "
    "Gehört die Datei zum Screening einer anderen Studie?",
    "excluded.everybody": "{file} schließt alle Personen aus, sodass nichts zu messen bleibt.",
    "excluded.unreadable": "{file} ist nicht lesbar: {why}. Nötig ist screening.json oder eine CSV-Datei von Personen.",
    "excluded.not_text": "{file} ist keine Textdatei. Nötig ist screening.json oder eine CSV-Datei von Personen.",
    "excluded.not_screening": "{file} ist kein Screening, wie karat screen --out es schreibt.",
    "excluded.not_csv": "{file} ist keine CSV-Datei: {why}",
    "excluded.no_column": "{file} hat keine Spalte participant. Die Spalten sind {columns}.",
    "measure_correlations.spearman": "{first} und {second}: Spearmans Korrelation über {n:stimulus} beträgt "
    "{estimate:.2r}[[ (Intervall {lower:.2r} bis {upper:.2r}, Niveau {level:%})]].",
    "measure_correlations.undefined": "{first} und {second}: Spearmans Korrelation über {n:stimulus} ist nicht "
    "definiert.",
    "measure_correlations.more": "Die Tabelle hat {n} weitere {n:Korrelation|Korrelationen}.",
    "measure_correlations.left_out": "{first} und {second}: {n} {n:Schätzung blieb|Schätzungen blieben} weg, weil nur "
    "eines der beiden Maße sie hat.",
    "measure_correlations.one_measure": "Nötig sind mindestens zwei Maße, als Zuordnung von Namen zu Maßen.",
    "measure_correlations.few_shared": "{first} und {second} haben {shared:stimulus} gemeinsam und brauchen "
    "{fewest}.[[ {first} hat {first_stimuli}.]][[ {second} hat {second_stimuli}.]]",
    "measure_correlations.reserved_name": "Ein Maß kann nicht \"stimulus\" heißen; so heißt die Spalte der Namen. Es "
    "braucht einen anderen Namen.",
    "measure_correlations.repeated": "{measure} hat {stimulus} zweimal. Spalten, die Stimuli unterscheiden, gehören "
    "zwischen item und estimate.",
    "measure_correlations.columns": "{measure} muss die Spalten item und estimate haben.",
    "correlations.incomplete": "{n} von {cases} {cases:Fall|Fällen} {n:blieb|blieben} weg, weil nicht jedes Paar "
    "bewertet wurde.",
    "correlations.nearest_matrix": "Die polychorischen Korrelationen, Paar für Paar geschätzt, wurden zur nächsten "
    "gültigen Korrelationsmatrix verschoben.",
    "correlations.kind": "correlations muss \"pearson\" oder \"polychoric\" sein, nicht {kind:quoted}.",
    "correlations.too_few_pairs": "Korrelationen brauchen mindestens zwei Paare.",
    "correlations.no_observations": "Dies ist eine Korrelationsmatrix. Mit observations=... wird die Zahl der Fälle "
    "angegeben.",
    "correlations.observations": "observations=... ist für eine Korrelationsmatrix. Hier werden die Bewertungen "
    "gezählt.",
    "correlations.too_few_cases": "Nur {n} {n:Fall hat|Fälle haben} für jedes Paar eine Bewertung. Korrelationen "
    "brauchen mindestens drei.",
    "correlations.constant": "Alle Antworten auf {pairs:and} sind gleich. Was nicht variiert, muss entfallen.",
    "correlations.singular": "Die Korrelationsmatrix ist singulär, weil ein Paar aus anderen folgt oder es weniger "
    "Fälle als Paare gibt. Nötig sind weniger Paare oder mehr Fälle.",
    "correlations.shape": "Eine Matrix braucht zwei Dimensionen: Zeilen (Fälle) und Spalten (Paare).",
    "correlations.no_numbers": "Die Spalte {column} enthält keine Zahlen. Nötig sind nur die Spalten der Paare.",
    "correlations.too_many_points": "{pair} hat mehr als {most} verschiedene Antworten, zu viele für polychorische "
    "Korrelationen. Geeignet ist correlations=\"pearson\".",
    "word.within": "dieselben Personen",
    "word.between": "verschiedene Personen",
    "word.mixed": "teils dieselben Personen",
    "word.majority": "Mehrheit",
    "word.weighted": "Gewichtete Mehrheit",
    "word.dawid-skene": "Modell von Dawid und Skene",
    "word.marvellous": "erstaunlich",
    "word.meritorious": "verdienstvoll",
    "word.middling": "ziemlich gut",
    "word.mediocre": "mittelmäßig",
    "word.miserable": "kläglich",
    "word.unacceptable": "untragbar",
    "word.select_controls.too_few_answers": "mit zu wenigen Antworten",
    "word.select_controls.marked": "markiert",
    "word.select_controls.other_side": "auf der anderen Seite der Skala als erwartet",
    "word.select_controls.not_near_end": "nicht nah an einem Ende",
    "word.select_controls.variation": "mit zu viel Streuung",
    # ==================== report, terminal and pages ====================
    "report.not_computed": "Es wurde nicht berechnet.",
    "report.too_long": "Bei mehr als {limit:answer} würde das für einen Bericht zu lange dauern. In Python geht es mit "
    "`karat.screen` und `karat.measure`.",
    "report.criterion_long": "Bei mehr als {limit:answer} berechnet ein Bericht dies nur, wenn die Regeln es nennen. "
    "`karat screen` berechnet dieses Kriterium.",
    "report.quick": "Mit --quick wird das ausgelassen.",
    "report.new_names": "Personen, deren Namen Kennungen einer Plattform waren, erscheinen unter neuen Namen.",
    "report.no_answers": "Es gibt keine Antworten.",
    "report.no_criteria": "Die Regeln nennen kein Kriterium.",
    "report.no_scores": "Niemand hat einen Wert.",
    "report.guessing_passes": "Wer rät, besteht höchstens mit p {p:p}.",
    "report.index_unknown": "Das Intervall ist zu breit für einen Schluss, weil es zu wenige Antworten gibt.",
    # ==================== words for values ====================
    "word.yes": "ja",
    "word.no": "nein",
}  # fmt: skip

LANGUAGE = Language(
    "de", FORMS | TEXTS | {f"name.{key}": name for key, name in NAMES.items()}, NOUNS, "und", ",", ".", ("„", "“"),
    leading_zero=True, messages=MESSAGE_FORMS | MESSAGES, either="oder",
    numerals=("", "", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"),
    day="{day}. {month} {year}",
    months=(
        "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November",
        "Dezember",
    ),
)  # fmt: skip
