"""What looks like a person's is told of; helplines, dates, doses and numbers kept for fiction are not."""

import time

import pytest

from annotation.importing.personal_data import find_personal_data


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("call me 617-234-5678", "a telephone number"),
        ("(617) 234-5678", "a telephone number"),
        ("my number is 6172345678", "a telephone number"),
        ("+49 30 1234567", "a telephone number"),
        ("030/1234567", "a telephone number"),
        ("06 12 34 56 78", "a telephone number"),
        ("07700 900123", "a telephone number"),
        ("13812345678", "a telephone number"),
        ("+91 98765 43210", "a telephone number"),
        ("write to jo.doe@gmail.com.", "an e-mail address"),
        ("at 7 Elm Street", "a postal address"),
        ("12 rue de la Paix", "a postal address"),
        ("Hauptstraße 12", "a postal address"),
        ("Calle de Alcalá, 42", "a postal address"),
        ("Rua das Flores, 123", "a postal address"),
        ("MRN: 4456789", "a record number"),
        ("123-45-6789", "a record number"),
        ("case 2023-1234", "a record number"),
        ("NHS number 943 476 5919", "a record number"),
    ],
)
def test_what_looks_like_a_persons_is_found_in_english(text: str, what: str) -> None:
    assert what in set(find_personal_data(text))


TELEPHONES = {
    "en": ["call 617-234-5678", "ring me on 07700 900123."],
    "es": ["mi móvil es 612 34 56 78", "llámame al 612 345 678", "tel:612345678", "el 91 234 56 78... 0912345678"],
    "hi": ["मेरा नंबर 98765 43210 है", "फ़ोन:९८७६५४३२१०", "9876543210 पर फ़ोन करें"],
    "ar": ["رقمي ٠٥٠١٢٣٤٥٦٧", "هاتفي 01012345678", "اتصل بـ +966 50 123 4567"],
    "pt": ["o meu número é 912 345 678", "ligue (11) 91234-5678", "(11) 3456-7890"],
    "de": ["meine Nummer ist 0170 1234567", "Tel.:030/1234567"],
    "id": ["nomor saya 0812-3456-7890", "telepon:081234567890"],
    "it": ["il mio numero è 333 1234567", "chiamami al 3331234567", "333 123 4567"],
    "fa": ["شماره من ۰۹۱۲۳۴۵۶۷۸۹ است", "تلفن ۰۲۱-۱۲۳۴۵۶۷۸"],
    "tr": ["numaram 0532 123 45 67", "532 123 45 67"],
    "zh": ["我的手机是13812345678，请打给我", "手机号：138 1234 5678", "电话010-12345678"],
}
RECORDS = {
    "en": ["Patient-Nr 12345678", "my MRN is 4456789"],
    "es": ["historia clínica 123456", "expediente nº 2023/4455", "DNI: 12345678Z", "NIE X1234567L"],
    "hi": ["मरीज संख्या 45678", "रिकॉर्ड नंबर: ४५६७८९", "आधार नंबर 1234 5678 9012"],
    "ar": ["رقم الملف 123456", "رقم الملف الطبي: ١٢٣٤٥٦", "الرقم القومي 29001011234567"],
    "pt": ["prontuário nº 123456", "número de utente 123456789", "CPF 123.456.789-09"],
    "de": ["Patient-Nr. 12345678", "Aktenzeichen 4711/22", "Versichertennummer A123456789", "Fallnummer: 12345"],
    "id": ["nomor rekam medis 123456", "No. RM 12-34-56", "NIK 3201011234567890"],
    "it": ["cartella clinica n. 12345", "codice fiscale RSSMRA85T10A562S"],
    "fa": ["شماره پرونده ۱۲۳۴۵۶", "کد ملی ۰۰۱۲۳۴۵۶۷۸"],
    "tr": ["hasta no: 123456", "protokol numarası 12345", "T.C. kimlik no 12345678901"],
    "zh": ["病历号12345678", "住院号：0012345", "身份证号码是110101199003074512", "我是110101199003074512"],
}
NOBODYS = {
    "en": ["600 700 800 mg", "in 2019 and 2020 2021 2022", "the patient took 10 000 steps in 2023"],
    "es": [
        "tomé 100 200 300 mg",
        "el 12.05.2023 a las 14:30",
        "no hasta 2020",
        "612.345.678 habitantes",
        "expediente 2019",
    ],
    "hi": ["1998-2005 में", "५० मि.ग्रा. दिन में ३ बार", "मरीज ने 500 mg लिया"],
    "ar": ["في عام ٢٠١٩ و ٢٠٢٠", "٥٠ ملغ مرتين", "المريض 45 سنة"],
    "pt": ["em 2019-2020", "50 mg às 12:30", "o utente tem 45 anos"],
    "de": ["am 05.03.2021 um 14:30", "von 1998–2005", "nie 10 000 Schritte", "Fall 2019", "Patient, 45 Jahre, 100 mg"],
    "id": ["tahun 2019/2020", "pasien 45 tahun", "500 000 rupiah"],
    "it": ["dal 1998 al 2005", "100 mg 2 volte", "il paziente ha 45 anni"],
    "fa": ["سال ۱۳۹۸ و ۱۴۰۰", "بیمار ۴۵ ساله"],
    "tr": ["2019-2020 yılında", "hasta 45 yaşında", "saat 05:30"],
    "zh": ["2019年到2020年", "每天3次，每次50毫克", "2021-05-12 14:30", "病人45岁", "一共10000步"],
}


def test_every_language_of_the_field_is_scanned() -> None:
    languages = {"en", "es", "hi", "ar", "pt", "de", "id", "it", "fa", "tr", "zh"}
    assert set(TELEPHONES) == set(RECORDS) == set(NOBODYS) == languages


@pytest.mark.parametrize("language", TELEPHONES)
def test_telephone_numbers_are_found_in_every_language(language: str) -> None:
    found = {text: set(find_personal_data(text)) for text in TELEPHONES[language]}
    assert not [text for text, kinds in found.items() if "a telephone number" not in kinds]


@pytest.mark.parametrize("language", RECORDS)
def test_record_numbers_are_found_in_every_language(language: str) -> None:
    found = {text: set(find_personal_data(text)) for text in RECORDS[language]}
    assert not [text for text, kinds in found.items() if "a record number" not in kinds]


@pytest.mark.parametrize("language", NOBODYS)
def test_years_doses_and_dates_are_passed_over_in_every_language(language: str) -> None:
    assert not [text for text in NOBODYS[language] if list(find_personal_data(text))]


@pytest.mark.parametrize(
    "text",
    [
        "988, 911 or 999",
        "text 741741",
        "116 123",
        "+44 116 123",
        "1-800-273-8255",
        "1-800-273-TALK (8255)",
        "+1 800 273 8255",
        "0800 111 0 111",
        "+49 800 1110111",
        "0808 800 5000",
        "13 11 14",
        "12/05/2023",
        "09-05-23 14:30",
        "2023-05-12 14:30",
        "in 2023-2024",
        "120/80 130/85 125/82",
        "10 20 30 40 50",
        "1.000.000.000",
        "50 mg 3 times, 100-200 mg",
        "1 2 3 4 5 6 7 8 9 10",
        "555-0123, 202-555-0147",
        "jo@example.org",
        "case 3 of 10,000 people",
    ],
)
def test_what_is_nobodys_is_passed_over(text: str) -> None:
    assert list(find_personal_data(text)) == []


@pytest.mark.parametrize("part", ["0", "1 ", "A ", "+1 ", "a@", "a.", "A-", "0 ", "De ", "12 Aa ", "patient 1 "])
def test_no_text_makes_the_scan_slow(part: str) -> None:
    start = time.perf_counter()
    list(find_personal_data("9" + part * 20_000 + "@"))
    assert time.perf_counter() - start < 2
